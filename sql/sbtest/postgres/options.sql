-- How table {n} was made: without log, fillfactor, tablespaces of the table and of its key.
select c.relpersistence = 'u',
    (select option_value from pg_options_to_table(c.reloptions) where option_name = 'fillfactor'),
    (select spcname from pg_tablespace where oid = c.reltablespace),
    (select s.spcname from pg_index i join pg_class k on k.oid = i.indexrelid
        join pg_tablespace s on s.oid = k.reltablespace where i.indrelid = c.oid and i.indisprimary)
from pg_class c where c.oid = 'sbtest{n}'::regclass;
