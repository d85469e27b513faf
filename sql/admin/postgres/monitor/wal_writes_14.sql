-- versions: 14..17
SELECT what, name, value::text, NULL, NULL, NULL
FROM pg_stat_wal, LATERAL (VALUES
  ('figure', 'wal_records', wal_records::numeric),
  ('figure', 'full_page_images', wal_fpi),
  ('figure', 'wal_buffers_full', wal_buffers_full),
  ('figure', 'wal_writes', wal_write),
  ('figure', 'wal_fsyncs', wal_sync),
  ('figure', 'wal_write_ms', CASE WHEN current_setting('track_wal_io_timing')::bool THEN wal_write_time::numeric END),
  ('figure', 'wal_fsync_ms', CASE WHEN current_setting('track_wal_io_timing')::bool THEN wal_sync_time::numeric END)
) AS figures (what, name, value)
