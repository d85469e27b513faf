-- dbload: title = ten rows by their key, four ranges, two updates, a delete and an insert  schema = sbtest
-- dbload: param range_size = 100 in 1..1000000
BEGIN;
-- Ten rows of one table.
\set table random(1, :tables)
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
\set id random(1, :table_size)
SELECT c FROM sbtest:{table} WHERE id=:id;
-- Four ranges, each of a table of its own.
\set table random(1, :tables)
\set id random(1, :table_size)
\set last :id + :range_size - 1
SELECT c FROM sbtest:{table} WHERE id BETWEEN :id AND :last;
\set table random(1, :tables)
\set id random(1, :table_size)
\set last :id + :range_size - 1
SELECT SUM(k) FROM sbtest:{table} WHERE id BETWEEN :id AND :last;
\set table random(1, :tables)
\set id random(1, :table_size)
\set last :id + :range_size - 1
SELECT c FROM sbtest:{table} WHERE id BETWEEN :id AND :last ORDER BY c;
\set table random(1, :tables)
\set id random(1, :table_size)
\set last :id + :range_size - 1
SELECT DISTINCT c FROM sbtest:{table} WHERE id BETWEEN :id AND :last ORDER BY c;
-- An indexed column, another one, and a row deleted and inserted again; each on a table of its own.
\set table random(1, :tables)
\set id random(1, :table_size)
UPDATE sbtest:{table} SET k=k+1 WHERE id=:id;
\set table random(1, :tables)
\set id random(1, :table_size)
\set c random_string(###########-###########-###########-###########-###########-###########-###########-###########-###########-###########)
UPDATE sbtest:{table} SET c=:'c' WHERE id=:id;
\set table random(1, :tables)
\set id random(1, :table_size)
\set k random(1, :table_size)
\set c random_string(###########-###########-###########-###########-###########-###########-###########-###########-###########-###########)
\set pad random_string(###########-###########-###########-###########-###########)
DELETE FROM sbtest:{table} WHERE id=:id;
INSERT INTO sbtest:{table} (id, k, c, pad) VALUES (:id, :k, :'c', :'pad');
COMMIT;
