-- What dbload remembers about the tables beside it; one row.
-- origin: who wrote the row: loading (a load that has not ended), init, run, rebase.
-- history_id, history_file: 0; SQLite does not tell one table of a name from the next.
-- carried: sum of the deltas of the history rows that dbload removed.
-- tellers_ahead: sum(tbalance) - sum(bbalance) that verify --rebase accepted.
-- other_truncations: 0, see history_id.
create table if not exists dbload_state (origin text not null, scale integer not null, history_id integer not null, history_file integer not null, carried integer not null, tellers_ahead integer not null, other_truncations integer not null);
