-- The last column is 1 when the row speaks of another table than the present one.
select s.table_number, s.origin, s.seed, s.table_size, s.low, s.high, s.deletes, s.inserts,
       case when unix_timestamp(t.create_time) = s.table_id then 0 else 1 end
from dbload_sbtest_state s
left join information_schema.tables t
  on t.table_schema = database() and t.table_name = concat('sbtest', s.table_number);
