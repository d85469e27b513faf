-- versions: 8..9
-- The number of the newest file. Checkpoints are taken all the time, so none of them is an event.
SELECT 'figure', 'log_switches', CAST(max(FILE_ID) AS CHAR), NULL, NULL, NULL
FROM performance_schema.innodb_redo_log_files
