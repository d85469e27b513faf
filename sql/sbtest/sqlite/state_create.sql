-- What dbload remembers about the tables beside them; one row for each.
-- table_id: 0; SQLite does not tell one table of a name from the next.
-- origin: who wrote the row: loading (a load that has not ended), init, run, rebase.
-- seed: of the rows; 0 when another tool loaded them.
-- table_size: rows when it was loaded, which are also the ids that workloads use.
-- low, high: rows up to that id, and beyond it, that verify expects.
-- deletes, inserts: 1 when a workload ran that deletes rows for good, or adds some.
create table if not exists dbload_sbtest_state (table_number integer not null, table_id integer not null, origin text not null, seed integer not null, table_size integer not null, low integer not null, high integer not null, deletes integer not null, inserts integer not null);
