-- What exists under the schema's names: relation, kind, column, type.
select s.name, s.type, c.name, c.type
from sqlite_schema s left join pragma_table_info(s.name) c
where s.name in ('pgbench_accounts', 'pgbench_branches', 'pgbench_history', 'pgbench_tellers', 'dbload_state')
order by s.name, c.cid;
