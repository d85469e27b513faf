insert into dbload_sbtest_state (table_number, table_id, origin, seed, table_size, low, high, deletes, inserts)
values ({n}, 'sbtest{n}'::regclass::oid::bigint, '{origin}', {seed}, {table_size}, {low}, {high}, {deletes}, {inserts});
