-- Scale factor; there are no partitions.
select count(*), 0, null from pgbench_branches;
