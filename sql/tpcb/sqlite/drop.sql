drop table if exists pgbench_history;
drop table if exists pgbench_accounts;
drop table if exists pgbench_tellers;
drop table if exists pgbench_branches;
drop table if exists dbload_state;
