-- What dbload remembers about the tables beside it; one row.
-- origin: who wrote the row: loading (a load that has not ended), init, run, rebase.
-- history_id, history_file: rows of pgbench_history that dbload is about to truncate, and the sum of
-- their deltas; 0 at any other time. TRUNCATE commits by itself: they tell afterwards whether an
-- interrupted one had happened.
-- carried: sum of the deltas of the history rows that dbload removed.
-- tellers_ahead: sum(tbalance) - sum(bbalance) that verify --rebase accepted.
-- other_truncations: 0; the server does not tell one truncation from the next.
create table if not exists dbload_state (origin varchar(16) not null, scale bigint not null, history_id bigint not null, history_file bigint not null, carried bigint not null, tellers_ahead bigint not null, other_truncations bigint not null) engine = InnoDB default charset = latin1;
