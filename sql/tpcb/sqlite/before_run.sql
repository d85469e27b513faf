-- Before a level history is emptied; what its rows had added to the balances goes into dbload_state
-- in the same transaction. Then the log is moved into the file, so that no level pays for the one
-- before it.
begin immediate;
{state_create};
insert into dbload_state (origin, scale, history_id, history_file, carried, tellers_ahead, other_truncations)
select 'run', (select count(*) from pgbench_branches), 0, 0, 0, 0, 0 where not exists (select 1 from dbload_state);
update dbload_state set carried = carried + coalesce((select sum(delta) from pgbench_history), 0);
delete from pgbench_history;
commit;
pragma wal_checkpoint(truncate);
