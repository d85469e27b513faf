\set customer random_zipfian(1, 1000 * :scale, 0.99)
\set roll random(1, 100)
SELECT id AS cart, count(*) AS items FROM carts WHERE customer = :customer GROUP BY id \gset
\if :items > 10 or :roll <= 5
BEGIN;
UPDATE carts SET state = 'ordered' WHERE id = :cart;
END;
\elif :roll <= 60
INSERT INTO items (cart, product) VALUES (:cart, :roll);
\else
\sleep 5 ms
\endif
