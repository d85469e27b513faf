-- dbload: title = update of rows by Zipf's law  schema = sbtest
-- The lowest ids are the hottest: the k-th id has frequency k^-0.8.
\set table random(1, :tables)
\set id random_zipfian(1, :table_size, 0.8)
\set c random_string(###########-###########-###########-###########-###########-###########-###########-###########-###########-###########)
UPDATE sbtest:{table} SET c=:'c' WHERE id=:id;
