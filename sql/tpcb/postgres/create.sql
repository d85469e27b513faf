-- The tables of pgbench -i: same columns, types, nullability and fill factor; keys come after the
-- load (index.sql). A partitioned table has no storage of its own, so {storage} differs for it.
create {unlogged}table pgbench_history (tid int, bid int, aid {aid}, delta int, mtime timestamp, filler char(22)){tablespace};
create {unlogged}table pgbench_tellers (tid int not null, bid int, tbalance int, filler char(84)) with (fillfactor = {fillfactor}){tablespace};
create {accounts_unlogged}table pgbench_accounts (aid {aid} not null, bid int, abalance int, filler char(84)){storage}{tablespace};
create {unlogged}table pgbench_branches (bid int not null, bbalance int, filler char(88)) with (fillfactor = {fillfactor}){tablespace};
