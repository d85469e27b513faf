//! Planning: how likely a paired comparison finds a difference, and how many rounds that takes.
//!
//! Planning figures come from a standard deviation that is itself uncertain (at five rounds the
//! detectable difference is known to about a factor of two); they are no evidence for or against a
//! difference.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;

use super::student::t_quantile;

/// Above this many rounds a plan is no longer practical, and none is named.
pub const MAX_ROUNDS: u32 = 1000;

/// Panels of Simpson's rule: errors stay under 2e-6 at two rounds, far under that from three on.
const PANELS: u32 = 400;

/// The probability that a noncentral t with `df` degrees of freedom and noncentrality `ncp` is
/// above `t` (at least 0): the normal tail averaged over the distribution of the estimated
/// standard deviation (Johnson and Welch, 1940), by Simpson's rule.
pub fn noncentral_upper_tail(t: f64, df: f64, ncp: f64) -> f64 {
    let normal = Normal::standard();
    // s is the estimated over the true standard deviation: chi with df degrees of freedom over
    // the square root of df. Ten of its standard deviations around 1 hold all of it.
    let spread = 10.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - spread).max(1e-9), 1.0 + spread);
    let ln_scale = std::f64::consts::LN_2 + df / 2.0 * (df / 2.0).ln() - ln_gamma(df / 2.0);
    let integrand = |s: f64| {
        let density = (ln_scale + (df - 1.0) * s.ln() - df * s * s / 2.0).exp();
        density * normal.cdf(ncp - t * s)
    };
    let step = (high - low) / f64::from(PANELS);
    let weighted = |i: u32| {
        let weight = match i {
            0 | PANELS => 1.0,
            i if i.is_multiple_of(2) => 2.0,
            _ => 4.0,
        };
        weight * integrand(low + f64::from(i) * step)
    };
    (0..=PANELS).map(weighted).sum::<f64>() * step / 3.0
}

/// The probability that a two-sided paired t test at level `alpha` over `rounds` rounds finds a
/// true difference of `effect`, when differences between rounds have the standard deviation
/// `stddev` (both in logarithms of the ratio). 0 for fewer than two rounds.
pub fn paired_power(stddev: f64, rounds: u32, effect: f64, alpha: f64) -> f64 {
    if rounds < 2 {
        return 0.0;
    }
    if stddev <= 0.0 {
        return if effect == 0.0 { alpha } else { 1.0 };
    }
    let df = f64::from(rounds - 1);
    let ncp = effect / stddev * f64::from(rounds).sqrt();
    let critical = t_quantile(1.0 - alpha / 2.0, df);
    noncentral_upper_tail(critical, df, ncp) + noncentral_upper_tail(critical, df, -ncp)
}

/// The least number of rounds with which [`paired_power`] reaches `power`; `None` above
/// [`MAX_ROUNDS`].
pub fn rounds_needed(stddev: f64, effect: f64, alpha: f64, power: f64) -> Option<u32> {
    let enough = |rounds: u32| paired_power(stddev, rounds, effect, alpha) >= power;
    if !enough(MAX_ROUNDS) {
        return None;
    }
    // Power rises with rounds: `low` is never enough, `high` always is.
    let (mut low, mut high) = (1, MAX_ROUNDS);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noncentral_tail_agrees_with_an_independent_implementation() {
        // scipy 1.17, stats.nct.sf(t, df, ncp)
        for (t, df, ncp, expected) in [
            (2.776, 4.0, 2.0, 0.335_909_508_7),
            (2.776, 4.0, -2.0, 0.000_154_257_6),
            (4.303, 2.0, 3.0, 0.387_345_377_9),
            (2.3646, 7.0, 0.5, 0.063_743_884_8),
            (12.7062, 1.0, 5.0, 0.305_160_206_7),
        ] {
            let tail = noncentral_upper_tail(t, df, ncp);
            assert!((tail - expected).abs() < 1e-7, "{t} {df} {ncp}: {tail}");
        }
    }

    #[test]
    fn without_an_effect_power_is_the_level() {
        for rounds in [2, 3, 5, 8, 30, 1000] {
            let power = paired_power(0.05, rounds, 0.0, 0.05);
            assert!((power - 0.05).abs() < 2e-6, "{rounds}: {power}");
        }
    }

    #[test]
    fn power_agrees_with_the_published_planning_table() {
        // Run-to-run standard deviation, rounds, effect, level, power; a difference of two runs
        // varies by the square root of two more.
        for (run_sd, rounds, effect, alpha, expected) in [
            (0.041, 3, 1.10, 0.05, 0.36),
            (0.041, 5, 1.10, 0.05, 0.78),
            (0.041, 6, 1.10, 0.05, 0.89),
            (0.041, 8, 1.10, 0.05, 0.98),
            (0.082, 5, 1.10, 0.05, 0.29),
            (0.082, 10, 1.10, 0.05, 0.64),
            (0.082, 15, 1.10, 0.05, 0.84),
            (0.041, 5, 1.05, 0.05, 0.30),
            (0.041, 10, 1.05, 0.05, 0.66),
            (0.041, 15, 1.05, 0.05, 0.86),
            (0.041, 5, 1.10, 0.05 / 7.0, 0.31),
            (0.041, 8, 1.10, 0.05 / 7.0, 0.77),
            (0.041, 10, 1.10, 0.05 / 7.0, 0.92),
        ] {
            let sd = run_sd * std::f64::consts::SQRT_2;
            let power = paired_power(sd, rounds, f64::ln(effect), alpha);
            assert!((power - expected).abs() < 0.005_1, "{run_sd} {rounds} {effect}: {power}");
        }
    }

    #[test]
    fn the_least_number_of_rounds_is_the_least() {
        let effect = 1.1_f64.ln();
        for sd in [0.02, 0.0579, 0.116, 0.3] {
            let rounds = rounds_needed(sd, effect, 0.05, 0.8).unwrap();
            assert!(paired_power(sd, rounds, effect, 0.05) >= 0.8);
            assert!(paired_power(sd, rounds - 1, effect, 0.05) < 0.8, "{sd}: {rounds}");
        }
        assert_eq!(rounds_needed(0.0, effect, 0.05, 0.8), Some(2));
        assert_eq!(rounds_needed(0.1, 0.0, 0.05, 0.8), None, "no difference is never found");
        assert_eq!(rounds_needed(5.0, effect, 0.05, 0.8), None);
    }
}
