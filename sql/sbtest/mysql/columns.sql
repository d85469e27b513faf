-- What exists under the schema's names: relation, kind, column, type in PostgreSQL's words.
select t.table_name,
       case t.table_type when 'BASE TABLE' then 'table' else lower(t.table_type) end,
       c.column_name,
       case c.data_type when 'int' then 'integer' when 'varchar' then 'text'
            when 'char' then concat('character(', c.character_maximum_length, ')')
            else c.data_type end
from information_schema.tables t
left join information_schema.columns c
  on c.table_schema = t.table_schema and c.table_name = t.table_name
where t.table_schema = database()
  and t.table_name regexp '^(sbtest[1-9][0-9]{0,8}|dbload_sbtest_state)$'
order by t.table_name, c.ordinal_position;
