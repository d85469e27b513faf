create index k_{n} on sbtest{n} (k);
