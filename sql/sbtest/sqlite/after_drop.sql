-- Gives the space of the dropped tables back to the file system.
vacuum;
pragma wal_checkpoint(truncate);
