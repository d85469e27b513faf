drop table if exists pgbench_history, pgbench_accounts, pgbench_tellers, pgbench_branches, dbload_state;
