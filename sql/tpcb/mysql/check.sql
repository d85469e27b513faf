-- Rows and balances of the branches, tellers and accounts, and the deltas of history, all as of
-- one moment: this is one statement.
select b.n, t.n, a.n, b.total, t.total, a.total, h.total
from (select count(*) as n, coalesce(sum(bbalance), 0) as total from pgbench_branches) b,
     (select count(*) as n, coalesce(sum(tbalance), 0) as total from pgbench_tellers) t,
     (select count(*) as n, coalesce(sum(abalance), 0) as total from pgbench_accounts) a,
     (select coalesce(sum(delta), 0) as total from pgbench_history) h;
