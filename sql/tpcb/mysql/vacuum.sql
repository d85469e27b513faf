-- Statistics for the planner; there is nothing to vacuum.
analyze table pgbench_branches, pgbench_tellers, pgbench_accounts, pgbench_history;
