-- versions: 17..17
-- One write is one block. The files that backends extend are not in it, as they were before 17.
SELECT 'figure', 'buffers_written_backend', sum(writes)::text, NULL, NULL, NULL
FROM pg_stat_io
WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer')
