-- Statistics for the planner, then everything into the file and the log emptied.
analyze;
pragma wal_checkpoint(truncate);
