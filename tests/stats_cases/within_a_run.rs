//! One run: coverage of the mean's interval, false dips, dips that are found, false drift.

use dbload::stats::dips::dips;
use dbload::stats::precision::interval_of;
use dbload::stats::series::IntervalCount;
use dbload::stats::trend::drift;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::simulate::{Tally, experiments, generator, normal};

/// `n` values around 0 with variance 1; neighbours correlate by `phi`.
fn autoregressive(rng: &mut Xoshiro256PlusPlus, phi: f64, n: usize) -> Vec<f64> {
    let mut x = normal(rng);
    let innovation = (1.0 - phi * phi).sqrt();
    (0..n)
        .map(|_| {
            let now = x;
            x = phi * x + innovation * normal(rng);
            now
        })
        .collect()
}

/// Seconds of about 1000 transactions with the coefficient of variation `cv`.
fn seconds(noise: &[f64], cv: f64, missing: impl Fn(usize) -> f64) -> Vec<IntervalCount> {
    let row = |(i, x): (usize, &f64)| {
        let rate = (1000.0 * (1.0 + cv * x) * (1.0 - missing(i))).max(0.0).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2000")]
        let transactions = rate as u64;
        IntervalCount { transactions, length_s: 1.0 }
    };
    noise.iter().enumerate().map(row).collect()
}

fn coverage(test: u64, phi: f64, n: usize, runs: u32) -> Tally {
    let mut rng = generator(test);
    let mut tally = Tally::default();
    for _ in 0..runs {
        let i = interval_of(&autoregressive(&mut rng, phi, n)).expect("more than two values");
        tally.count(i.high_tps >= 0.0 && i.mean_tps - (i.high_tps - i.mean_tps) <= 0.0);
    }
    tally
}

#[test]
fn the_interval_of_a_mean_covers_the_truth() {
    for (test, phi, n, limit) in
        [(101, 0.0, 300, 0.93), (102, 0.5, 300, 0.93), (103, 0.9, 1800, 0.93)]
    {
        let tally = coverage(test, phi, n, experiments(10_000, 1_000));
        tally.assert_strictly_between(limit, 1.0, &format!("coverage at correlation {phi}, {n} s"));
    }
}

#[test]
fn noise_alone_makes_a_dip_in_fewer_than_one_half_hour_of_five_hundred() {
    let mut rng = generator(110);
    for cv in [0.05, 0.10, 0.15] {
        let mut false_alarms = Tally::default();
        for _ in 0..experiments(5_000, 100) {
            let found = dips(&seconds(&autoregressive(&mut rng, 0.5, 1800), cv, |_| 0.0));
            false_alarms.count(!found.dips.is_empty());
        }
        false_alarms.assert_between(0.0, 0.002, &format!("false dips at cv {cv}"));
    }
}

#[test]
fn planted_dips_are_found_with_their_period() {
    let mut rng = generator(120);
    for (cv, period, length, missing) in
        [(0.05, 150, 15, 0.5), (0.05, 60, 6, 0.7), (0.10, 150, 15, 0.7), (0.10, 60, 6, 0.7)]
    {
        let mut found_all = Tally::default();
        for _ in 0..experiments(100, 20) {
            let noise = autoregressive(&mut rng, 0.0, 1800);
            let at = |i: usize| if i % period < length { missing } else { 0.0 };
            let found = dips(&seconds(&noise, cv, at));
            let every = found.period_s.unwrap_or(0.0) / period as f64;
            found_all.count((every - 1.0).abs() < 0.05);
        }
        found_all.assert_between(0.99, 1.0, &format!("dips every {period} s at cv {cv}"));
    }
}

#[test]
fn a_run_without_drift_rarely_shows_one() {
    let mut rng = generator(130);
    for phi in [0.0, 0.5] {
        let mut tally = Tally::default();
        for _ in 0..experiments(5_000, 500) {
            let run = seconds(&autoregressive(&mut rng, phi, 300), 0.1, |_| 0.0);
            tally.count(drift(&run).unwrap().p < 0.05);
        }
        tally.assert_between(0.04, 0.06, &format!("false drift at correlation {phi}"));
    }
}
