-- Before a level, as pgbench does: short tables vacuumed, history emptied. What the removed rows
-- had added to the balances goes into dbload_state in the same transaction. The lock keeps other
-- sessions from adding rows between the sum and the truncation.
vacuum pgbench_branches;
vacuum pgbench_tellers;
begin isolation level read committed;
lock table pgbench_history in access exclusive mode;
{state_create};
-- A row about tables that were made anew since says nothing about these.
delete from dbload_state where history_id <> 'pgbench_history'::regclass::oid::bigint;
insert into dbload_state (origin, scale, history_id, history_file, carried, tellers_ahead, other_truncations)
select 'run', (select count(*) from pgbench_branches), oid::bigint, pg_relation_filenode(oid)::bigint, 0, 0, 0
from pg_class where oid = 'pgbench_history'::regclass and not exists (select from dbload_state);
update dbload_state
set carried = carried + coalesce((select sum(delta) from pgbench_history), 0),
    other_truncations = other_truncations + (history_file <> pg_relation_filenode('pgbench_history')::bigint)::int;
truncate pgbench_history;
update dbload_state set history_file = pg_relation_filenode('pgbench_history')::bigint;
commit;
