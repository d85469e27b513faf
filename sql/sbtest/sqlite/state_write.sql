insert into dbload_sbtest_state (table_number, table_id, origin, seed, table_size, low, high, deletes, inserts)
values ({n}, 0, '{origin}', {seed}, {table_size}, {low}, {high}, {deletes}, {inserts});
