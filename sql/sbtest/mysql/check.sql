-- Rows of a table up to the loaded size, and beyond it, and the greatest id, as of one moment.
select {n}, coalesce(sum(id <= {table_size}), 0), coalesce(sum(id > {table_size}), 0), coalesce(max(id), 0) from sbtest{n};
