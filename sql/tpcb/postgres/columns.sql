-- What exists under the schema's names: relation, kind, column, type. With {partitions} partitions
-- to be made, also what holds one of their names without being a partition.
select c.relname,
       case c.relkind when 'r' then 'table' when 'p' then 'table' when 'v' then 'view'
            when 'm' then 'materialized view' when 'f' then 'foreign table' when 'S' then 'sequence'
            else 'relation of kind ' || c.relkind::text end,
       a.attname,
       format_type(a.atttypid, a.atttypmod)
from pg_class c
left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.oid in (to_regclass('pgbench_accounts'), to_regclass('pgbench_branches'),
                to_regclass('pgbench_history'), to_regclass('pgbench_tellers'),
                to_regclass('dbload_state'))
   or (c.relnamespace = to_regnamespace(quote_ident(current_schema()))
       and c.relname ~ '^pgbench_accounts_[1-9][0-9]{0,8}$' and not c.relispartition
       and substring(c.relname from '[0-9]+$')::numeric <= {partitions})
order by c.relname, a.attnum;
