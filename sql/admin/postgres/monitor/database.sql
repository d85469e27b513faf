-- versions: 13..
SELECT what, name, value::text, NULL, NULL, NULL
FROM pg_stat_database, LATERAL (VALUES
  ('figure', 'commits', xact_commit::numeric),
  ('figure', 'rollbacks', xact_rollback),
  ('figure', 'blocks_hit', blks_hit),
  ('figure', 'blocks_read', blks_read),
  ('figure', 'block_read_ms', CASE WHEN current_setting('track_io_timing')::bool THEN blk_read_time::numeric END),
  ('figure', 'block_write_ms', CASE WHEN current_setting('track_io_timing')::bool THEN blk_write_time::numeric END),
  ('figure', 'deadlocks', deadlocks),
  ('figure', 'temp_bytes', temp_bytes),
  ('figure', 'database_bytes', pg_database_size(datid))
) AS figures (what, name, value)
WHERE datname = current_database()
