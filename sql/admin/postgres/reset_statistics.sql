-- What the server has counted, of this database and in common, set to zero: autovacuum decides by
-- it. Each kind of counter with the version that has it first.
SELECT pg_stat_reset();
SELECT pg_stat_reset_shared(kind)
  FROM (VALUES ('archiver', 130000), ('bgwriter', 130000), ('wal', 140000), ('io', 160000),
               ('checkpointer', 170000)) AS known (kind, since)
 WHERE current_setting('server_version_num')::int >= since;
