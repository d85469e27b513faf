insert into dbload_sbtest_state (table_number, table_id, origin, table_size, low, high, deletes, inserts)
values ({n}, 'sbtest{n}'::regclass::oid::bigint, '{origin}', {table_size}, {low}, {high}, {deletes}, {inserts});
