drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers, dbload_state;
