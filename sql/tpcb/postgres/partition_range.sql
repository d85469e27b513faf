create {unlogged}table pgbench_accounts_{n} partition of pgbench_accounts for values from ({from}) to ({to}) with (fillfactor = {fillfactor});
