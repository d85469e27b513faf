-- versions: 13..
-- What the sessions on this database are doing: waiting for something, or running.
SELECT 'wait', coalesce(wait_event_type || ':' || wait_event, 'running'), count(*)::text, NULL, NULL, NULL
FROM pg_stat_activity
WHERE backend_type = 'client backend' AND state = 'active' AND datname = current_database()
  AND pid <> pg_backend_pid()
GROUP BY wait_event_type, wait_event
