-- The last column is 1 when the row speaks of another table than the present one.
select table_number, origin, seed, table_size, low, high, deletes, inserts,
       (table_id is distinct from to_regclass('sbtest' || table_number)::oid::bigint)::int
from dbload_sbtest_state;
