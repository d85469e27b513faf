-- Statistics for the planner, then everything into the file and the log emptied.
analyze sbtest{n};
pragma wal_checkpoint(truncate);
