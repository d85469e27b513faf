//! Random streams: which generator a script draws from, and how every stream gets its seed.
//!
//! The generator is the one pgbench has had since version 15 (xoroshiro128**, Blackman and Vigna
//! 2018), so that equal seeds give equal values. `dist` turns its numbers into distributions,
//! `hash` holds the functions that scatter keys. Pure arithmetic: no clock, no operating system.

pub mod dist;
pub mod hash;

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_xoshiro::Xoroshiro128StarStar;

/// The stream that a client's scripts draw from. A clone repeats the same values, which is how a
/// retried transaction gets its first try's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptRng(Xoroshiro128StarStar);

impl ScriptRng {
    /// The stream of `seed`: its state is two splitmix64 steps, as in pgbench.
    pub fn new(seed: u64) -> Self {
        Self(Xoroshiro128StarStar::seed_from_u64(seed))
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform integer in `0..=max`. Draws nothing when `max` is 0.
    #[inline]
    pub fn up_to(&mut self, max: u64) -> u64 {
        if max == 0 {
            return 0;
        }
        // As many top bits as `max` has; at least every second draw fits.
        let shift = max.leading_zeros();
        loop {
            let drawn = self.next_u64() >> shift;
            if drawn <= max {
                return drawn;
            }
        }
    }

    /// A uniform double in `[0, 1)` with 52 random bits.
    #[inline]
    pub fn double(&mut self) -> f64 {
        // 52 bits are exact in a double, whose mantissa has 53.
        let bits = (self.next_u64() >> 12) as f64;
        bits * (1.0 / (1_u64 << 52) as f64)
    }

    /// A normal deviate with mean 0 and standard deviation 1 (Box and Muller 1958, sine branch).
    pub fn normal(&mut self) -> f64 {
        let radius = 1.0 - self.double();
        let angle = 1.0 - self.double();
        (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).sin()
    }
}

/// Makes the stream usable by `rand` and `rand_distr`.
impl TryRng for ScriptRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(dest)
    }
}

/// What a stream is for. A new purpose does not disturb the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Which script of a mix comes next.
    Choose,
    /// The random functions of the scripts.
    Script,
    /// Arrival times of an open loop.
    Throttle,
    /// Rows of the initial load.
    Load,
}

/// The seed of one stream of a run with `--seed`: run seed, client and purpose decide it, and
/// nothing else, so the number of workers never changes what a client does.
pub fn stream_seed(seed: u64, client: u32, purpose: Purpose) -> u64 {
    let purpose = match purpose {
        Purpose::Choose => 1,
        Purpose::Script => 2,
        Purpose::Throttle => 3,
        Purpose::Load => 4,
    };
    // Each step is a bijection of the last word put in: two clients never share a seed.
    [purpose, u64::from(client)].into_iter().fold(mix(seed), |state, word| mix(state ^ word))
}

/// The seed of the random columns of row `index` of a table whose own seed is `table`.
pub fn row_seed(table: u64, index: u64) -> u64 {
    mix(table ^ index)
}

/// One step of splitmix64 (Steele, Lea and Flood 2014).
fn mix(state: u64) -> u64 {
    let mut bits = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The seeds that pgbench derives from `--random-seed N`, in its order: one for each client, the
/// default seed of the hash functions, then three for each thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgbenchSeeds {
    /// Seeds of the clients' script streams, client 0 first.
    pub clients: Vec<u64>,
    /// The variable `default_seed`.
    pub default_seed: i64,
    /// Seeds of the threads. We take one thread for each client, the only case in which pgbench's
    /// own streams repeat.
    pub threads: Vec<PgbenchThreadSeeds>,
}

/// The seeds of one pgbench thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PgbenchThreadSeeds {
    /// Which script comes next.
    pub choose: u64,
    /// Arrival times.
    pub throttle: u64,
    /// Which log lines to keep; here only to keep the order.
    pub sample: u64,
}

impl PgbenchSeeds {
    /// The seeds of a run with `clients` clients, each on a thread of its own.
    pub fn new(seed: u64, clients: usize) -> Self {
        let mut base = ScriptRng::new(seed);
        let client_seeds = (0..clients).map(|_| base.next_u64()).collect();
        let default_seed = base.next_u64().cast_signed();
        Self { clients: client_seeds, default_seed, threads: Self::threads(&mut base, clients) }
    }

    /// The same where `-D default_seed=N` was given: pgbench then does not draw that seed, so the
    /// threads' seeds come one draw earlier.
    pub fn with_default_seed(seed: u64, clients: usize, default_seed: i64) -> Self {
        let mut base = ScriptRng::new(seed);
        let client_seeds = (0..clients).map(|_| base.next_u64()).collect();
        Self { clients: client_seeds, default_seed, threads: Self::threads(&mut base, clients) }
    }

    fn threads(base: &mut ScriptRng, threads: usize) -> Vec<PgbenchThreadSeeds> {
        // Fields of a struct expression are evaluated in the order they are written.
        let next = |_| PgbenchThreadSeeds {
            choose: base.next_u64(),
            throttle: base.next_u64(),
            sample: base.next_u64(),
        };
        (0..threads).map(next).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_xoroshiro128_starstar_seeded_by_splitmix64() {
        // The definition written out, against the crate.
        let mut seeder = 777_u64;
        let mut step = || {
            let out = mix(seeder);
            seeder = seeder.wrapping_add(0x9e37_79b9_7f4a_7c15);
            out
        };
        let (mut low, mut high) = (step(), step());
        let mut rng = ScriptRng::new(777);
        for _ in 0..1000 {
            let expected = low.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
            let crossed = high ^ low;
            low = low.rotate_left(24) ^ crossed ^ (crossed << 16);
            high = crossed.rotate_left(37);
            assert_eq!(rng.next_u64(), expected);
        }
    }

    #[test]
    fn a_range_of_one_value_draws_nothing() {
        let mut rng = ScriptRng::new(1);
        let before = rng.clone();
        assert_eq!(rng.up_to(0), 0);
        assert_eq!(rng, before);
    }

    #[test]
    fn ranges_stay_within_their_bounds_and_reach_both_ends() {
        let mut rng = ScriptRng::new(2);
        for max in [1, 2, 6, 7, 8] {
            let drawn: Vec<u64> = (0..2000).map(|_| rng.up_to(max)).collect();
            assert_eq!(drawn.iter().min(), Some(&0));
            assert_eq!(drawn.iter().max(), Some(&max));
        }
        assert!((0..100).map(|_| rng.up_to(u64::MAX)).any(|drawn| drawn > u64::MAX / 2));
    }

    #[test]
    fn doubles_lie_in_the_unit_interval_and_normals_have_mean_0_and_deviation_1() {
        let mut rng = ScriptRng::new(3);
        let n = 100_000;
        assert!((0..n).map(|_| rng.double()).all(|x| (0.0..1.0).contains(&x)));
        let normals: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let variance = normals.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn streams_differ_by_seed_client_and_purpose() {
        let purposes = [Purpose::Choose, Purpose::Script, Purpose::Throttle, Purpose::Load];
        let mut seen = std::collections::HashSet::new();
        for seed in 0..10 {
            for client in 0..100 {
                for purpose in purposes {
                    assert!(seen.insert(stream_seed(seed, client, purpose)));
                }
            }
        }
    }

    #[test]
    fn pgbench_seeds_come_in_the_order_clients_default_seed_threads() {
        let mut base = ScriptRng::new(42);
        let drawn: Vec<u64> = (0..9).map(|_| base.next_u64()).collect();
        let seeds = PgbenchSeeds::new(42, 2);
        assert_eq!(seeds.clients, drawn[..2]);
        assert_eq!(seeds.default_seed, drawn[2].cast_signed());
        assert_eq!(seeds.threads[1].choose, drawn[6]);
        assert_eq!(seeds.threads[1].sample, drawn[8]);
        let given = PgbenchSeeds::with_default_seed(42, 2, 5);
        assert_eq!(given.threads[0].choose, drawn[2]);
    }
}
