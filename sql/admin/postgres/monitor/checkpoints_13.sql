-- versions: 13..16
SELECT what, name, value::text, NULL, NULL, NULL
FROM pg_stat_bgwriter, LATERAL (VALUES
  ('figure', 'checkpoints_timed', checkpoints_timed::numeric),
  ('figure', 'checkpoints_requested', checkpoints_req),
  ('figure', 'checkpoint_write_ms', checkpoint_write_time::numeric),
  ('figure', 'checkpoint_sync_ms', checkpoint_sync_time::numeric),
  ('figure', 'buffers_written_checkpointer', buffers_checkpoint),
  ('figure', 'buffers_written_bgwriter', buffers_clean),
  ('figure', 'buffers_written_backend', buffers_backend),
  ('figure', 'buffers_allocated', buffers_alloc)
) AS figures (what, name, value)
