-- Name and value of the settings that can change the figures: those that decide about durability
-- and memory always, others when they are not the default. Left out: what only names, logs or
-- locates, and whatever may hold a password.
SELECT name, current_setting(name)
FROM pg_settings
WHERE name IN (
    'autovacuum', 'block_size', 'checkpoint_timeout', 'data_checksums', 'effective_io_concurrency',
    'fsync', 'full_page_writes', 'huge_pages', 'io_method', 'jit', 'max_wal_size', 'shared_buffers',
    'synchronous_commit', 'wal_compression', 'wal_level', 'wal_sync_method', 'work_mem'
  )
  OR source NOT IN ('default', 'override')
  AND context <> 'internal'
  AND category !~ '^(Reporting and Logging|Client Connection Defaults / (Locale|Other)|File Locations)'
  AND category NOT IN ('Connections and Authentication / Connection Settings', 'Customized Options')
  AND name !~ '(conninfo|command|passw|secret|token|_key|_file)'
  AND name NOT IN ('application_name', 'client_encoding', 'cluster_name', 'update_process_title')
ORDER BY name
