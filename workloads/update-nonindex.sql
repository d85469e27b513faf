-- dbload: title = update of a column without an index  schema = sbtest
\set table random(1, :tables)
\set id random(1, :table_size)
\set c random_string(###########-###########-###########-###########-###########-###########-###########-###########-###########-###########)
UPDATE sbtest:{table} SET c=:'c' WHERE id=:id;
