-- versions: 10..
-- One file, used as a ring: how often its end was passed. A checkpoint is known by its position.
SELECT 'figure', 'log_switches', CAST(VARIABLE_VALUE DIV @@innodb_log_file_size AS CHAR), NULL, NULL, NULL
FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_LSN_CURRENT'
UNION ALL
SELECT 'event', 'checkpoint', CAST(VARIABLE_VALUE AS CHAR), NULL, NULL, NULL
FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_LSN_LAST_CHECKPOINT'
