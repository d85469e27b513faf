-- One row: version, folders of the data and of the log (NULL when this user may not know them),
-- bytes of this database, whether the server runs on the client's machine, connections it has for
-- this user, seconds between checkpoints, and how the connection comes.
SELECT
  current_setting('server_version'),
  (SELECT setting FROM pg_settings WHERE name = 'data_directory'),
  (SELECT setting || '/pg_wal' FROM pg_settings WHERE name = 'data_directory'),
  pg_database_size(current_database()),
  -- No address is a Unix socket. The server's own view: a port forwarded into a container is not
  -- local, since the folder that the server names is the container's.
  inet_client_addr() IS NULL OR inet_client_addr() = inet_server_addr(),
  CASE
    WHEN current_setting('is_superuser') = 'on' THEN current_setting('max_connections')::int
    ELSE least(
      current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
      (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = session_user)
    )
  END,
  (SELECT setting FROM pg_settings WHERE name = 'checkpoint_timeout'),
  CASE
    WHEN inet_client_addr() IS NULL THEN 'socket'
    WHEN (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) THEN 'tls'
    ELSE 'tcp'
  END
