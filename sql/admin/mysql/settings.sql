-- Name and value of the settings that can change the figures, those of either family of servers.
show global variables where variable_name in (
  'binlog_format', 'binlog_group_commit_sync_delay', 'binlog_row_image', 'default_storage_engine',
  'innodb_adaptive_hash_index', 'innodb_autoinc_lock_mode', 'innodb_buffer_pool_instances',
  'innodb_buffer_pool_size', 'innodb_change_buffering', 'innodb_checksum_algorithm',
  'innodb_deadlock_detect', 'innodb_dedicated_server', 'innodb_doublewrite', 'innodb_fast_shutdown',
  'innodb_file_per_table', 'innodb_flush_log_at_timeout', 'innodb_flush_log_at_trx_commit',
  'innodb_flush_method', 'innodb_flush_neighbors', 'innodb_flush_sync', 'innodb_io_capacity',
  'innodb_io_capacity_max', 'innodb_lock_wait_timeout', 'innodb_log_buffer_size',
  'innodb_log_file_size', 'innodb_log_files_in_group', 'innodb_log_write_ahead_size',
  'innodb_max_dirty_pages_pct', 'innodb_max_dirty_pages_pct_lwm', 'innodb_page_size',
  'innodb_print_all_deadlocks', 'innodb_purge_threads', 'innodb_read_io_threads',
  'innodb_redo_log_capacity', 'innodb_rollback_on_timeout', 'innodb_snapshot_isolation',
  'innodb_thread_concurrency', 'innodb_use_native_aio', 'innodb_write_io_threads', 'local_infile',
  'log_bin', 'max_connections', 'performance_schema', 'query_cache_size', 'query_cache_type',
  'sync_binlog', 'table_open_cache', 'thread_cache_size', 'thread_handling',
  'transaction_isolation', 'tx_isolation', 'version_comment'
)
