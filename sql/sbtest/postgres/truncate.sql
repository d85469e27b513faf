-- Rows copied into a table that the same transaction emptied can be written frozen.
truncate sbtest{n};
