//! Seeded noise, and limits that know how many experiments they rest on.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A generator for one test: the run's seed and the test's own number.
pub(crate) fn generator(test: u64) -> Xoshiro256PlusPlus {
    let seed = match std::env::var("DBLOAD_TEST_SEED") {
        Ok(text) => text.parse().expect("DBLOAD_TEST_SEED is a whole number"),
        Err(_) => 1_u64,
    };
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(test))
}

/// One standard normal value.
pub(crate) fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(rng)
}

/// How many experiments to run: all in an optimised build, a share in a debug build.
pub(crate) fn experiments(optimised: u32, debug: u32) -> u32 {
    if cfg!(debug_assertions) { debug } else { optimised }
}

/// Counts how often something happened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    hits: u32,
    of: u32,
}

impl Tally {
    /// Counts one experiment.
    pub(crate) fn count(&mut self, hit: bool) {
        self.hits += u32::from(hit);
        self.of += 1;
    }

    /// Asserts that the share lies between `low` and `high`. Under 20,000 experiments four standard
    /// errors are allowed on either side, so that a sound build fails one time in 30,000.
    pub(crate) fn assert_between(self, low: f64, high: f64, what: &str) {
        let allowance = |p: f64| {
            let variance = (p * (1.0 - p)).max(0.001) / f64::from(self.of);
            if self.of < 20_000 { 4.0 * variance.sqrt() } else { 0.0 }
        };
        self.assert_strictly_between(low - allowance(low), high + allowance(high), what);
    }

    /// The same without any allowance.
    pub(crate) fn assert_strictly_between(self, low: f64, high: f64, what: &str) {
        let share = f64::from(self.hits) / f64::from(self.of);
        assert!(
            (low..=high).contains(&share),
            "{what}: {share:.4} of {} is not between {low:.4} and {high:.4}",
            self.of
        );
    }
}
