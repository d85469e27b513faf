-- Before a level history is emptied; what its rows had added to the balances goes into dbload_state.
-- TRUNCATE commits by itself, so the sum is noted first and added afterwards; the locks keep other
-- sessions from adding rows in between, and a truncation that was interrupted is settled first.
{state_create};
insert into dbload_state (origin, scale, history_id, history_file, carried, tellers_ahead, other_truncations)
select 'run', (select count(*) from pgbench_branches), 0, 0, 0, 0, 0 from dual where not exists (select 1 from dbload_state);
lock tables pgbench_history write, dbload_state write;
update dbload_state
set carried = carried + case when history_id > (select count(*) from pgbench_history) then history_file else 0 end;
update dbload_state, (select count(*) as n, coalesce(sum(delta), 0) as total from pgbench_history) h
set history_id = h.n, history_file = h.total;
truncate table pgbench_history;
update dbload_state set carried = carried + history_file, history_id = 0, history_file = 0;
unlock tables;
