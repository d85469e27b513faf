-- versions: 18..
-- One write may be several blocks.
SELECT 'figure', 'buffers_written_backend',
  trunc(sum(write_bytes) / current_setting('block_size')::numeric)::text, NULL, NULL, NULL
FROM pg_stat_io
WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer')
