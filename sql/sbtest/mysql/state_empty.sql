delete from dbload_sbtest_state;
