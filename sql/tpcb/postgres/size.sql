-- Bytes of the tables with their keys.
select sum(pg_total_relation_size(oid)) from pg_class
where oid in (to_regclass('pgbench_accounts'), to_regclass('pgbench_branches'),
              to_regclass('pgbench_history'), to_regclass('pgbench_tellers'))
   or oid in (select inhrelid from pg_inherits where inhparent = to_regclass('pgbench_accounts'));
