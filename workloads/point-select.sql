-- dbload: title = one row by its key  schema = sbtest
\set table random(1, :tables)
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
