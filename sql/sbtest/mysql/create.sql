-- Table {n} as sysbench makes it; InnoDB keeps a table in the order of its primary key, so the key
-- is there before the rows. The next id follows the greatest one by itself.
create table sbtest{n} (id integer not null auto_increment, k integer default '0' not null, c char(120) default '' not null, pad char(60) default '' not null, primary key (id)) engine = InnoDB;
