create {unlogged}table pgbench_accounts_{n} partition of pgbench_accounts for values with (modulus {partitions}, remainder {remainder}) with (fillfactor = {fillfactor});
