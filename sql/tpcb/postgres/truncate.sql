-- Opens the transaction of a load over one connection: rows copied into a table that the same
-- transaction emptied can be written frozen.
begin;
truncate pgbench_branches, pgbench_tellers, pgbench_accounts, pgbench_history;
