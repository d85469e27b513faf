insert into dbload_sbtest_state (table_number, table_id, origin, seed, table_size, low, high, deletes, inserts)
select {n}, unix_timestamp(create_time), '{origin}', {seed}, {table_size}, {low}, {high}, {deletes}, {inserts}
from information_schema.tables where table_schema = database() and table_name = 'sbtest{n}';
