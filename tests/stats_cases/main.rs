//! The statistics against what they promise: coverage, false alarms, power, and one published
//! comparison with known figures.
//!
//! Simulations start from `DBLOAD_TEST_SEED` (default 1) and hold for any seed. Debug builds, many
//! times slower, run fewer experiments (`simulate::experiments`), and the limits widen with that
//! (`Tally::assert_between`).

mod between_arms;
mod golden;
mod simulate;
mod within_a_run;
