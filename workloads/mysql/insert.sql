-- dbload: title = insert of a row  schema = sbtest  changes = inserts
-- 0 lets the database choose the key. With --protocol simple the values are part of the text.
\set table random(1, :tables)
\set k random(1, :table_size)
\set c random_string(###########-###########-###########-###########-###########-###########-###########-###########-###########-###########)
\set pad random_string(###########-###########-###########-###########-###########)
INSERT INTO sbtest:{table} (id, k, c, pad) VALUES (0, :k, :'c', :'pad');
