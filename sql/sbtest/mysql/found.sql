-- The greatest id of a table that dbload keeps no notes on.
select coalesce(max(id), 0) from sbtest{n};
