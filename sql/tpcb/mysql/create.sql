-- The tables of pgbench with the nearest types: InnoDB keeps a table in the order of its primary
-- key, so the key is there before the rows. A character set of one byte makes char(n) take n bytes,
-- as on PostgreSQL; datetime has no time zone, as the timestamp there.
create table pgbench_history (tid int, bid int, aid {aid}, delta int, mtime datetime, filler char(22)) engine = InnoDB default charset = latin1;
create table pgbench_tellers (tid int not null primary key, bid int, tbalance int, filler char(84)) engine = InnoDB default charset = latin1;
create table pgbench_accounts (aid {aid} not null primary key, bid int, abalance int, filler char(84)) engine = InnoDB default charset = latin1;
create table pgbench_branches (bid int not null primary key, bbalance int, filler char(88)) engine = InnoDB default charset = latin1;
