-- An interrupted truncation counts when the rows that it was to remove are gone.
select origin, scale,
       carried + case when history_id > (select count(*) from pgbench_history) then history_file else 0 end,
       tellers_ahead, other_truncations, 0
from dbload_state;
