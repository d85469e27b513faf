-- Rows of a table up to the loaded size, and beyond it, and the greatest id, as of one moment.
select {n}, count(*) filter (where id <= {table_size}), count(*) filter (where id > {table_size}), coalesce(max(id), 0) from sbtest{n};
