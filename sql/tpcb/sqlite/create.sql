-- The tables of pgbench with the nearest types: an INTEGER PRIMARY KEY is the table's own order,
-- so there is no index to be made after the load.
create table pgbench_history (tid integer, bid integer, aid integer, delta integer, mtime text, filler text);
create table pgbench_tellers (tid integer primary key, bid integer, tbalance integer, filler text);
create table pgbench_accounts (aid integer primary key, bid integer, abalance integer, filler text);
create table pgbench_branches (bid integer primary key, bbalance integer, filler text);
