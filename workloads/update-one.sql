-- dbload: title = update of one row in each table  schema = sbtest
-- All clients want the same few rows: what is measured is how they wait for each other.
\set table random(1, :tables)
\set id 1
\set c random_string(###########-###########-###########-###########-###########-###########-###########-###########-###########-###########)
UPDATE sbtest:{table} SET c=:'c' WHERE id=:id;
