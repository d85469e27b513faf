-- versions: 10..
-- What the sessions on this database are doing, as the process list calls it.
SELECT 'wait', CAST(coalesce(nullif(STATE, ''), 'running') AS CHAR), CAST(count(*) AS CHAR), NULL, NULL, NULL
FROM information_schema.PROCESSLIST
WHERE COMMAND IN ('Query', 'Execute') AND DB = database() AND ID <> connection_id()
GROUP BY 2
