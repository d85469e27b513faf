-- What dbload remembers about the tables beside it; one row.
-- origin: who wrote the row: loading (a load that has not ended), init, run, rebase.
-- history_id, history_file: pg_class.oid of pgbench_history, and its file after dbload's own last
-- truncation: another table, or a truncation by another tool, has other numbers.
-- carried: sum of the deltas of the history rows that dbload removed.
-- tellers_ahead: sum(tbalance) - sum(bbalance) that verify --rebase accepted.
-- other_truncations: truncations by other tools that dbload has noticed.
create table if not exists dbload_state (origin text not null, scale bigint not null, history_id bigint not null, history_file bigint not null, carried bigint not null, tellers_ahead bigint not null, other_truncations bigint not null);
