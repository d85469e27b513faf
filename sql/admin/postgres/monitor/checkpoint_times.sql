-- versions: 13..
-- The last checkpoint that has ended: the control file keeps the seconds in which it began and
-- ended, whose middles are taken; and whether the checkpointer is at work on another one.
SELECT 'event', 'checkpoint', checkpoint_lsn::text, NULL,
  (extract(epoch FROM checkpoint_time) + 0.5)::text, (extract(epoch FROM pg_control_last_modified) + 0.5)::text
FROM pg_control_checkpoint(), pg_control_system()
UNION ALL
SELECT 'event', 'checkpoint', NULL, NULL, NULL, NULL
FROM pg_stat_activity
WHERE backend_type = 'checkpointer' AND wait_event IS DISTINCT FROM 'CheckpointerMain'
