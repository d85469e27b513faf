delete from dbload_state;
insert into dbload_state (origin, scale, history_id, history_file, carried, tellers_ahead, other_truncations)
select '{origin}', {scale}, oid::bigint, pg_relation_filenode(oid)::bigint, {carried}, {tellers_ahead}, 0
from pg_class where oid = 'pgbench_history'::regclass;
