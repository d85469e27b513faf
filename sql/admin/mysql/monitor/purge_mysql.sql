-- versions: 8..9
SELECT 'figure',
  CASE NAME WHEN 'trx_rseg_history_len' THEN 'history_list_length' WHEN 'lock_deadlocks' THEN 'deadlocks' END,
  CAST(`COUNT` AS CHAR), NULL, NULL, NULL
FROM information_schema.INNODB_METRICS
WHERE NAME IN ('trx_rseg_history_len', 'lock_deadlocks') AND STATUS = 'enabled'
UNION ALL
SELECT 'figure', 'checkpoint_age_bytes',
  CAST(sum(CASE WHEN VARIABLE_NAME LIKE '%current%' THEN VARIABLE_VALUE ELSE -VARIABLE_VALUE END) AS CHAR),
  NULL, NULL, NULL
FROM performance_schema.global_status
WHERE VARIABLE_NAME IN ('Innodb_redo_log_current_lsn', 'Innodb_redo_log_checkpoint_lsn')
