-- The last column is 1 when the row speaks of another pgbench_history than the present one.
select origin, scale, carried, tellers_ahead,
       other_truncations + (history_file <> pg_relation_filenode('pgbench_history')::bigint)::int,
       (history_id <> 'pgbench_history'::regclass::oid::bigint)::int
from dbload_state;
