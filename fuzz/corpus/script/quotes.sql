SELECT 'it''s; :x', E'a\'b;', "c;d", $$ e;f $$, $t$ g;$$;h $t$ /* i;/* j */; */ -- k;
  , :scale::int, a[1:2];
CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; END;
SELECT 1 \; SELECT 2 AS b \; SELECT 3 \aset p_
