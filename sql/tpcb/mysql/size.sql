-- Bytes of the tables with their keys.
select sum(data_length + index_length) from information_schema.tables
where table_schema = database()
  and table_name in ('pgbench_accounts', 'pgbench_branches', 'pgbench_history', 'pgbench_tellers');
