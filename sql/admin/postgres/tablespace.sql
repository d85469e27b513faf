-- Tablespaces and their folders (empty for the two inside of the data directory).
select spcname, pg_tablespace_location(oid) from pg_tablespace;
