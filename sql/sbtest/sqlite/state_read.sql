select table_number, origin, seed, table_size, low, high, deletes, inserts, 0 from dbload_sbtest_state;
