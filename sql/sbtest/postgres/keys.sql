-- The primary key, and a sequence that goes on after the last id.
alter table sbtest{n} add primary key (id){key_tablespace};
select setval(pg_get_serial_sequence('sbtest{n}', 'id'), {table_size});
