-- dbload: title = delete of a row  schema = sbtest  changes = deletes
-- Keys repeat: the fewer rows are left, the more executions find none.
\set table random(1, :tables)
\set id random(1, :table_size)
DELETE FROM sbtest:{table} WHERE id=:id;
