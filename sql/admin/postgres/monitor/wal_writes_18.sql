-- versions: 18..
-- Writes and fsyncs of the log have moved to pg_stat_io.
SELECT what, name, value::text, NULL, NULL, NULL
FROM pg_stat_wal, (
  SELECT sum(writes) AS writes, sum(write_time) AS write_time, sum(fsyncs) AS fsyncs, sum(fsync_time) AS fsync_time
  FROM pg_stat_io WHERE object = 'wal'
) AS io, LATERAL (VALUES
  ('figure', 'wal_records', wal_records::numeric),
  ('figure', 'full_page_images', wal_fpi),
  ('figure', 'wal_buffers_full', wal_buffers_full),
  ('figure', 'wal_writes', writes),
  ('figure', 'wal_fsyncs', fsyncs),
  ('figure', 'wal_write_ms', CASE WHEN current_setting('track_wal_io_timing')::bool THEN write_time::numeric END),
  ('figure', 'wal_fsync_ms', CASE WHEN current_setting('track_wal_io_timing')::bool THEN fsync_time::numeric END)
) AS figures (what, name, value)
