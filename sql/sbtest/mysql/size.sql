-- Bytes of the tables with their keys.
select sum(data_length + index_length) from information_schema.tables
where table_schema = database() and table_name regexp '^sbtest[1-9][0-9]{0,8}$';
