-- Scale factor, partitions of accounts, and how they are made.
select (select count(*) from pgbench_branches),
       (select count(*) from pg_inherits where inhparent = 'pgbench_accounts'::regclass),
       (select case partstrat when 'r' then 'range' when 'h' then 'hash' end
        from pg_partitioned_table where partrelid = 'pgbench_accounts'::regclass);
