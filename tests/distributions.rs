//! The random functions against their formulas: chi-square tests with fixed seeds, and proof that
//! the tests would notice a parameter that is 2 % off.

use dbload::rng::ScriptRng;
use dbload::rng::dist::{self, Bounds};
use dbload::rng::hash::permute;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

const DRAWS: u32 = 1_000_000;
const VALUES: u32 = 50;
/// With this probability a correct generator fails; seeds are fixed, so it does so always or never.
const FAILS: f64 = 1e-3;
/// A wrong parameter must be this improbable.
const NOTICES: f64 = 1e-6;

/// How often each of the values 1 to `VALUES` was drawn.
fn counts(seed: u64, mut draw: impl FnMut(&mut ScriptRng, Bounds) -> i64) -> Vec<f64> {
    let mut rng = ScriptRng::new(seed);
    let bounds = Bounds::new(1, i64::from(VALUES)).expect("1 is below VALUES");
    let mut counts = vec![0.0; VALUES as usize];
    for _ in 0..DRAWS {
        let value = draw(&mut rng, bounds);
        counts[usize::try_from(value - 1).expect("draws are at least 1")] += 1.0;
    }
    counts
}

/// The probability that counts as far from `weights` as these come from a generator with these
/// weights (Pearson 1900).
fn p_value(counts: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let mut statistic = 0.0;
    let mut cells = 0.0;
    // Neighbours are joined until a cell expects enough draws for the approximation.
    let (mut observed, mut expected) = (0.0, 0.0);
    for (count, weight) in counts.iter().zip(weights) {
        observed += count;
        expected += weight / total * f64::from(DRAWS);
        if expected >= 20.0 {
            statistic += (observed - expected).powi(2) / expected;
            cells += 1.0;
            (observed, expected) = (0.0, 0.0);
        }
    }
    statistic += (observed - expected).powi(2) / expected.max(1.0);
    let chi_square = ChiSquared::new(cells - 1.0).expect("there are two cells");
    1.0 - chi_square.cdf(statistic)
}

/// Weights of the values from the share of draws that falls below a fraction of the range.
fn from_shares(share_below: impl Fn(f64) -> f64) -> Vec<f64> {
    let edge = |value: u32| share_below(f64::from(value) / f64::from(VALUES));
    (0..VALUES).map(|value| edge(value + 1) - edge(value)).collect()
}

fn zipf(exponent: f64) -> Vec<f64> {
    (1..=VALUES).map(|rank| f64::from(rank).powf(-exponent)).collect()
}

fn exponential(parameter: f64) -> Vec<f64> {
    from_shares(|x| (1.0 - (-parameter * x).exp()) / (1.0 - (-parameter).exp()))
}

fn gaussian(parameter: f64) -> Vec<f64> {
    let normal = Normal::standard();
    from_shares(|x| normal.cdf(parameter * (2.0 * x - 1.0)))
}

fn pareto(h: f64) -> Vec<f64> {
    from_shares(|x| x.powf((1.0 - h).ln() / h.ln()))
}

/// Draws with `parameter` fit its formula and not that of a parameter 2 % larger or smaller.
fn check(
    name: &str,
    parameter: f64,
    draw: fn(&mut ScriptRng, Bounds, f64) -> i64,
    formula: fn(f64) -> Vec<f64>,
) {
    let counts = counts(11, |rng, bounds| draw(rng, bounds, parameter));
    let fits = p_value(&counts, &formula(parameter));
    assert!(fits > FAILS, "{name} {parameter}: p = {fits}");
    for wrong in [parameter * 0.98, parameter * 1.02] {
        let fits = p_value(&counts, &formula(wrong));
        assert!(fits < NOTICES, "{name} {parameter} is not told from {wrong}: p = {fits}");
    }
}

#[test]
fn uniform_draws_fit_and_a_slight_slope_does_not() {
    let counts = counts(12, dist::uniform);
    let fits = p_value(&counts, &vec![1.0; VALUES as usize]);
    assert!(fits > FAILS, "p = {fits}");
    let slope = from_shares(|x| 0.98 * x + 0.02 * x * x);
    let fits = p_value(&counts, &slope);
    assert!(fits < NOTICES, "p = {fits}");
}

#[test]
fn gaussian_draws_fit() {
    check("gaussian", 2.5, dist::gaussian, gaussian);
    check("gaussian", 5.0, dist::gaussian, gaussian);
}

#[test]
fn exponential_draws_fit() {
    check("exponential", 2.0, dist::exponential, exponential);
    check("exponential", 10.0, dist::exponential, exponential);
}

#[test]
fn pareto_draws_fit() {
    check("pareto", 0.2, dist::pareto, pareto);
    check("pareto", 0.4, dist::pareto, pareto);
}

#[test]
fn zipfian_draws_fit_on_both_sides_of_exponent_1() {
    for exponent in [0.5, 0.8, 0.99, 1.0, 1.0005, 1.2, 2.0] {
        check("zipfian", exponent, dist::zipfian, zipf);
    }
}

#[test]
fn zipfian_draws_of_an_exponent_near_0_are_nearly_uniform() {
    let counts = counts(13, |rng, bounds| dist::zipfian(rng, bounds, 0.001));
    let fits = p_value(&counts, &zipf(0.001));
    assert!(fits > FAILS, "p = {fits}");
}

#[test]
fn zipfian_draws_from_a_huge_range_have_the_share_of_the_formula() {
    // Share of the first 1 % of 10 million ranks at exponent 0.8: by the integral of x^-0.8 with
    // the Euler-Maclaurin constant, zeta(0.8) = -4.4375.
    let sum = |n: f64| n.powf(0.2) / 0.2 - 4.4375 + 0.5 * n.powf(-0.8);
    let expected = sum(1e5) / sum(1e7);
    let bounds = Bounds::new(1, 10_000_000).expect("1 is below");
    let mut rng = ScriptRng::new(14);
    let hot = (0..DRAWS).filter(|_| dist::zipfian(&mut rng, bounds, 0.8) <= 100_000).count();
    let share = f64::from(u32::try_from(hot).expect("at most DRAWS")) / f64::from(DRAWS);
    assert!((share - expected).abs() < 0.003, "{share} against {expected}");
}

#[test]
fn scattered_zipfian_keeps_the_frequencies_and_spreads_the_keys() {
    let seed = 99;
    let counts = counts(15, |rng, bounds| dist::zipfian_scattered(rng, bounds, 0.99, seed));
    let key = |rank: u32| permute(i64::from(rank), i64::from(VALUES), seed);
    let by_rank: Vec<f64> = (0..VALUES)
        .map(|rank| counts[usize::try_from(key(rank)).expect("keys are not negative")])
        .collect();
    let fits = p_value(&by_rank, &zipf(0.99));
    assert!(fits > FAILS, "p = {fits}");
    // The ten hottest keys lie in most tenths of the range, not side by side.
    let tenths: std::collections::HashSet<i64> =
        (0..10).map(|rank| key(rank) * 10 / i64::from(VALUES)).collect();
    assert!(tenths.len() >= 5, "{tenths:?}");
}

#[test]
fn special_puts_three_of_four_draws_into_the_middle_hundredth_but_its_lowest_quarter() {
    let bounds = Bounds::new(1, 100_001).expect("1 is below");
    let mut rng = ScriptRng::new(17);
    let drawn: Vec<i64> = (0..DRAWS).map(|_| dist::special(&mut rng, bounds)).collect();
    let share = |low: i64, high: i64| {
        let inside = drawn.iter().filter(|value| (low..=high).contains(value)).count();
        f64::from(u32::try_from(inside).expect("at most DRAWS")) / f64::from(DRAWS)
    };
    // The bell's standard deviation is a twelfth of the range, so that this band holds 3.6 % of it.
    let band = share(49_751, 50_501);
    assert!((band - 0.759).abs() < 0.005, "{band}");
    let skipped = share(49_501, 49_750);
    assert!(skipped < 0.005, "{skipped}");
    let bell: Vec<f64> = drawn
        .iter()
        .filter(|value| (**value - 50_001).abs() > 1000)
        .map(|value| f64::from(i32::try_from(*value).expect("in the range")) - 50_001.0)
        .collect();
    let squares = bell.iter().map(|off| off * off).sum::<f64>() / f64::from(DRAWS);
    // Both sides of the middle: a quarter of a twelfth squared, less a little that was cut out.
    let expected = 0.25 * (1e5 / 12.0_f64).powi(2);
    assert!((squares / expected - 1.0).abs() < 0.02, "{squares} against {expected}");
}

#[test]
fn every_draw_stays_in_its_range_at_the_extremes() {
    let mut rng = ScriptRng::new(16);
    for (low, high) in [(i64::MIN, -2), (1, i64::MAX), (0, i64::MAX - 1), (7, 7), (-1, 0)] {
        let bounds = Bounds::new(low, high).expect("ranges of at most 2^63 - 1 values");
        for _ in 0..200 {
            for value in [
                dist::uniform(&mut rng, bounds),
                dist::exponential(&mut rng, bounds, 1e-9),
                dist::exponential(&mut rng, bounds, 700.0),
                dist::gaussian(&mut rng, bounds, 2.0),
                dist::zipfian(&mut rng, bounds, 0.001),
                dist::zipfian(&mut rng, bounds, 1.0),
                dist::zipfian(&mut rng, bounds, 1000.0),
                dist::zipfian_scattered(&mut rng, bounds, 0.9, 1),
                dist::pareto(&mut rng, bounds, 0.2),
                dist::special(&mut rng, bounds),
            ] {
                assert!((low..=high).contains(&value), "{value} not in {low}..={high}");
            }
        }
    }
    assert!(Bounds::new(0, i64::MAX).is_err());
    assert!(Bounds::new(i64::MIN, i64::MAX).is_err());
    assert!(Bounds::new(1, 0).is_err());
}
