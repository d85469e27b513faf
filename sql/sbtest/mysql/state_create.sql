-- What dbload remembers about the tables beside them; one row for each.
-- table_id: when the table was made, in seconds; another time means that it was made anew since.
-- origin: who wrote the row: loading (a load that has not ended), init, run, rebase.
-- seed: of the rows; 0 when another tool loaded them.
-- table_size: rows when it was loaded, which are also the ids that workloads use.
-- low, high: rows up to that id, and beyond it, that verify expects.
-- deletes, inserts: 1 when a workload ran that deletes rows for good, or adds some.
create table if not exists dbload_sbtest_state (table_number bigint not null, table_id bigint not null, origin varchar(16) not null, seed bigint not null, table_size bigint not null, low bigint not null, high bigint not null, deletes int not null, inserts int not null) engine = InnoDB default charset = latin1;
