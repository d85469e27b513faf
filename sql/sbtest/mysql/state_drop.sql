drop table if exists dbload_sbtest_state;
