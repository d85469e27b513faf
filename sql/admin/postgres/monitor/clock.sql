-- versions: 13..
-- The server's clock, which need not be the client's; and since when it runs.
SELECT 'clock', NULL, extract(epoch FROM clock_timestamp())::text, NULL, NULL, NULL
UNION ALL
SELECT 'event', 'restart', pg_postmaster_start_time()::text, NULL,
  extract(epoch FROM pg_postmaster_start_time())::text, extract(epoch FROM pg_postmaster_start_time())::text
