-- Bytes of the tables with their keys.
select sum(pg_total_relation_size(oid)) from pg_class
where relname ~ '^sbtest[1-9][0-9]{0,8}$' and relkind = 'r' and pg_table_is_visible(oid);
