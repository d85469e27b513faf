\set a CASE WHEN :scale > 1 AND NOT (2 <> 3) THEN -1.5e3 ELSE permute(hash(:client_id), 10) END
\set b ((1 + 2) * 3 % 4 << 2 | 7 # ~ 8) IS NOT NULL OR NULL ISNULL
\set c greatest(1, 2.5, sqrt(:a), pow(2, 10), debug(ln(exp(1)))) \
   + least(random(1, 10), random_gaussian(1, 10, 2.5), random_exponential(1, 10, 3))
\set d random_string(@@@-###)
\set e -9223372036854775808 / random_zipfian_scattered(1, 100, 1.2, 5)
