-- One row: version, folders of the data and of the log, bytes of this database, whether the server runs on the
-- client's machine, connections it has for this user.
select
  @@version,
  @@datadir,
  case
    when @@innodb_log_group_home_dir like '/%' then @@innodb_log_group_home_dir
    else concat(@@datadir, trim(leading './' from coalesce(@@innodb_log_group_home_dir, '')))
  end,
  (select coalesce(sum(data_length + index_length), 0) from information_schema.tables
   where table_schema = database()),
  -- The client's address as the server sees it; a socket is localhost. A port forwarded into a
  -- container is not local, since the folder that the server names is the container's.
  substring_index(user(), '@', -1) in ('localhost', '127.0.0.1', '::1'),
  least(@@max_connections, coalesce(nullif(@@max_user_connections, 0), @@max_connections))
