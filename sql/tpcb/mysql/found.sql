-- Scale factor; dbload makes no partitions here.
select count(*), 0, null from pgbench_branches;
