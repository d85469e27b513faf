-- Table {n} as sysbench makes it; its keys come after the load (keys.sql, index.sql).
create {unlogged}table sbtest{n} (id serial, k integer default 0 not null, c char(120) default '' not null, pad char(60) default '' not null){storage}{tablespace};
