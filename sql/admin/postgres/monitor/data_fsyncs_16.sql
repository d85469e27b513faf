-- versions: 16..
SELECT what, name, value::text, NULL, NULL, NULL
FROM (
  SELECT sum(fsyncs) AS fsyncs, sum(fsync_time) AS fsync_time FROM pg_stat_io WHERE object = 'relation'
) AS io, LATERAL (VALUES
  ('figure', 'data_fsyncs', fsyncs),
  ('figure', 'data_fsync_ms', CASE WHEN current_setting('track_io_timing')::bool THEN fsync_time::numeric END)
) AS figures (what, name, value)
