-- versions: 17..
SELECT what, name, value::text, NULL, NULL, NULL
FROM pg_stat_checkpointer AS c, pg_stat_bgwriter AS b, LATERAL (VALUES
  ('figure', 'checkpoints_timed', c.num_timed::numeric),
  ('figure', 'checkpoints_requested', c.num_requested),
  ('figure', 'checkpoint_write_ms', c.write_time::numeric),
  ('figure', 'checkpoint_sync_ms', c.sync_time::numeric),
  ('figure', 'buffers_written_checkpointer', c.buffers_written),
  ('figure', 'buffers_written_bgwriter', b.buffers_clean),
  ('figure', 'buffers_allocated', b.buffers_alloc)
) AS figures (what, name, value)
