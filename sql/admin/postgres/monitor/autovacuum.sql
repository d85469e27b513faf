-- versions: 13..
-- Vacuums that run (the query says "autovacuum: VACUUM ANALYZE public.t"), and the last one of
-- each table that has ended.
SELECT 'event', 'autovacuum', NULL, substring(query FROM '^autovacuum: (?:VACUUM|ANALYZE)[A-Z ]* ([^ ]+)'),
  extract(epoch FROM xact_start)::text, NULL
FROM pg_stat_activity
WHERE backend_type = 'autovacuum worker' AND datname = current_database()
UNION ALL
SELECT 'event', 'autovacuum', ended::text, schemaname || '.' || relname, NULL, extract(epoch FROM ended)::text
FROM pg_stat_user_tables, greatest(last_autovacuum, last_autoanalyze) AS ended
WHERE ended > now() - interval '15 minutes'
