-- dbload: title = two updates, a delete and an insert  schema = sbtest
BEGIN;
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
