//! Distributions over an inclusive range of integers.
//!
//! Where pgbench has the distribution, the algorithm and the order of draws are its own, so that
//! equal streams give equal values; what it lacks comes from `rand_distr` or a closed formula.
//! Callers check bounds and parameters first ([`Bounds::new`], the `*_RANGE` constants).

use rand_distr::Distribution;

use super::ScriptRng;
use super::hash;

/// An inclusive range whose number of values fits an `i64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    low: i64,
    /// Values after the first.
    more: u64,
}

/// Why two numbers are no range to draw from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// The upper bound is under the lower one.
    #[error("the upper bound {high} is below the lower bound {low}, so the range is empty")]
    Empty {
        /// Lower bound.
        low: i64,
        /// Upper bound.
        high: i64,
    },
    /// More than 2^63 - 1 values.
    #[error("{low} to {high} is too large a range: at most 9223372036854775807 values")]
    TooLarge {
        /// Lower bound.
        low: i64,
        /// Upper bound.
        high: i64,
    },
}

impl Bounds {
    /// The range `low..=high`.
    pub fn new(low: i64, high: i64) -> Result<Self, BoundsError> {
        if low > high {
            return Err(BoundsError::Empty { low, high });
        }
        match high.checked_sub(low).and_then(|more| more.checked_add(1)) {
            Some(count) => Ok(Self { low, more: count.cast_unsigned() - 1 }),
            None => Err(BoundsError::TooLarge { low, high }),
        }
    }

    /// Number of values, at least 1.
    pub fn count(self) -> i64 {
        // `new` has checked that the count fits.
        self.more.cast_signed() + 1
    }

    /// The number of values as a double, rounded when over 2^53.
    fn count_f64(self) -> f64 {
        self.count() as f64
    }

    /// The value `offset` places after the first. An offset that rounding took past the end wraps
    /// in pgbench; here it is the last value.
    fn at(self, offset: i64) -> i64 {
        self.low.wrapping_add(offset.clamp(0, self.more.cast_signed()))
    }

    /// The value at `fraction` (0 to 1) of the range.
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, `at` clamps")]
    fn at_fraction(self, fraction: f64) -> i64 {
        self.at((self.count_f64() * fraction) as i64)
    }
}

/// Smallest parameter of [`gaussian`]; below it the redraws would be too many.
pub const GAUSSIAN_MIN: f64 = 2.0;
/// Largest exponent of [`zipfian`]; beyond it every draw is the first value anyway.
pub const ZIPFIAN_MAX: f64 = 1000.0;
/// From this exponent on [`zipfian`] draws as pgbench does, which refuses smaller ones.
const ZIPFIAN_PGBENCH_MIN: f64 = 1.001;

/// Every value equally likely.
#[inline]
pub fn uniform(rng: &mut ScriptRng, bounds: Bounds) -> i64 {
    bounds.low.wrapping_add(rng.up_to(bounds.more).cast_signed())
}

/// Exponentially falling from the first value; `parameter` must be over 0. The density at the last
/// value is `exp(-parameter)` of that at the first.
pub fn exponential(rng: &mut ScriptRng, bounds: Bounds, parameter: f64) -> i64 {
    let cut = (-parameter).exp();
    let uniform = 1.0 - rng.double();
    bounds.at_fraction(-(cut + (1.0 - cut) * uniform).ln() / parameter)
}

/// A bell around the middle; the ends lie `parameter` (at least [`GAUSSIAN_MIN`]) standard
/// deviations from it.
pub fn gaussian(rng: &mut ScriptRng, bounds: Bounds, parameter: f64) -> i64 {
    loop {
        let z = rng.normal();
        if -parameter <= z && z < parameter {
            return bounds.at_fraction((z + parameter) / (parameter * 2.0));
        }
    }
}

/// The k-th value with frequency proportional to `k^-exponent`; the exponent must be over 0 and at
/// most [`ZIPFIAN_MAX`]. The hottest keys are the lowest.
pub fn zipfian(rng: &mut ScriptRng, bounds: Bounds, exponent: f64) -> i64 {
    bounds.at(zipf_rank(rng, bounds, exponent) - 1)
}

/// As [`zipfian`], with the ranks spread over the range by a permutation that `seed` chooses: the
/// frequencies stay, the hot keys are no neighbours.
pub fn zipfian_scattered(rng: &mut ScriptRng, bounds: Bounds, exponent: f64, seed: i64) -> i64 {
    let rank = zipf_rank(rng, bounds, exponent);
    bounds.at(hash::permute(rank - 1, bounds.count(), seed))
}

/// The Pareto distribution of sysbench: a share `1 - h` of the draws falls on the first share `h`
/// of the range (0 < h < 1; with h = 0.2, 80 % on 20 %).
pub fn pareto(rng: &mut ScriptRng, bounds: Bounds, h: f64) -> i64 {
    let power = h.ln() / (1.0 - h).ln();
    bounds.at_fraction(rng.double().powf(power))
}

/// The default distribution of sysbench 1.0 with its default parameters: three of four draws fall on
/// the middle hundredth of the range, the rest is a bell over all of it (the mean of twelve uniform
/// values). One uniform value decides between the two, and within the middle hundredth it is used
/// again, so that the lowest quarter of that is never drawn.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates, `at` clamps")]
pub fn special(rng: &mut ScriptRng, bounds: Bounds) -> i64 {
    const DRAWS: u32 = 12;
    const SHARE_OF_BELL: f64 = 0.25;
    const HOT_SHARE: f64 = 0.01;
    let width = bounds.count_f64() - 1.0;
    let uniform = rng.double();
    if uniform < SHARE_OF_BELL {
        let sum: f64 = (0..DRAWS).map(|_| rng.double()).sum();
        return bounds.at((width * sum / f64::from(DRAWS)) as i64);
    }
    let hot = width * HOT_SHARE;
    bounds.at((uniform * (hot + 1.0) + width / 2.0 - hot / 2.0) as i64)
}

/// A rank in `1..=count`.
fn zipf_rank(rng: &mut ScriptRng, bounds: Bounds, exponent: f64) -> i64 {
    if bounds.count() == 1 {
        return 1;
    }
    if exponent < ZIPFIAN_PGBENCH_MIN {
        zipf_rank_any(rng, bounds, exponent)
    } else {
        zipf_rank_pgbench(rng, bounds, exponent)
    }
}

/// Rejection after Devroye (1986, page 550), as in pgbench. Slow towards exponent 1.
#[expect(clippy::cast_possible_truncation, reason = "an accepted rank is at most the count")]
fn zipf_rank_pgbench(rng: &mut ScriptRng, bounds: Bounds, exponent: f64) -> i64 {
    let power = exponent - 1.0;
    let b = 2_f64.powf(power);
    loop {
        let u = rng.double();
        let v = rng.double();
        let x = u.powf(-1.0 / power).floor();
        let t = (1.0 + 1.0 / x).powf(power);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= bounds.count_f64() {
            return x as i64;
        }
    }
}

/// Rejection with an envelope that is valid for every exponent (`rand_distr`).
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates, the rank is clamped")]
fn zipf_rank_any(rng: &mut ScriptRng, bounds: Bounds, exponent: f64) -> i64 {
    // Very close to 1 the envelope's formula cancels; frequencies under exponent 1 itself differ
    // from the true ones by less than one part in 10^5 at any range.
    let exponent = if (exponent - 1.0).abs() < 1e-7 { 1.0 } else { exponent };
    let zipf = rand_distr::Zipf::new(bounds.count_f64(), exponent)
        .expect("the count is at least 2 and the caller has checked that the exponent is over 0");
    (zipf.sample(rng) as i64).clamp(1, bounds.count())
}
