-- What exists under the schema's names: relation, kind, column, type.
select c.relname,
       case c.relkind when 'r' then 'table' when 'p' then 'table' when 'v' then 'view'
            when 'm' then 'materialized view' when 'f' then 'foreign table' when 'S' then 'sequence'
            else 'relation of kind ' || c.relkind::text end,
       a.attname,
       format_type(a.atttypid, a.atttypmod)
from pg_class c
left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relname ~ '^(sbtest[1-9][0-9]{0,8}|dbload_sbtest_state)$' and pg_table_is_visible(c.oid)
order by c.relname, a.attnum;
