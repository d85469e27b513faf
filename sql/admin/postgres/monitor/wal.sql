-- versions: 13..
-- The log's position: exact at any moment, where pg_stat_wal is up to a second late.
SELECT what, name, value::text, NULL AS subject, NULL AS started, NULL AS ended
FROM (
  SELECT pg_wal_lsn_diff(
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, '0/0'
  ) AS bytes
) AS log,
LATERAL (VALUES
  ('figure', 'wal_bytes', bytes),
  ('figure', 'log_switches', floor(bytes / (SELECT setting::numeric FROM pg_settings WHERE name = 'wal_segment_size')))
) AS figures (what, name, value)
