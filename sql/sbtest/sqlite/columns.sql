-- What exists under the schema's names: relation, kind, column, type. A pattern of GLOB cannot say
-- "only digits": what is no number is left out by the comparison.
select s.name, s.type, c.name, c.type
from sqlite_schema s left join pragma_table_info(s.name) c
where (s.name = 'sbtest' || cast(substr(s.name, 7) as integer) and s.name glob 'sbtest[1-9]*')
   or s.name = 'dbload_sbtest_state'
order by s.name, c.cid;
