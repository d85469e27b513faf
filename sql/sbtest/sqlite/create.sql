-- Table {n} of sysbench with the nearest types: an INTEGER PRIMARY KEY is the table's own order and
-- takes the next id by itself; texts are not padded.
create table sbtest{n} (id integer primary key, k integer default 0 not null, c text default '' not null, pad text default '' not null);
