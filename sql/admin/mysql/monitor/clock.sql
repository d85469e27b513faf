-- versions: 8..
-- The server's clock, which need not be the client's.
SELECT 'clock', NULL, CAST(unix_timestamp(now(6)) AS CHAR), NULL, NULL, NULL
