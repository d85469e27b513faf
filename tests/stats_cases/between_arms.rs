//! Simulated studies: how often a verdict is wrong when nothing differs, how often a difference is
//! found, how often equality is.

use dbload::stats::ttest::TTest;
use dbload::stats::verdict::{Better, Design, Rules, Verdict, decide};
use rand::RngExt;
use rand_distr::{Distribution, StudentT};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::simulate::{Tally, generator, normal};

const RULES: Rules = Rules { design: Design::Interleaved, margin: 0.03, better: Better::Higher };

/// Enough for the limits to hold without any allowance; two seconds in a debug build.
const EXPERIMENTS: u32 = 20_000;

/// What disturbs the runs of a study.
#[derive(Debug, Clone, Copy)]
enum Disturbance {
    /// Nothing but noise.
    None,
    /// The machine gets 2.4 % faster a round.
    Drift,
    /// Rounds differ by 5 %, both arms alike.
    RoundEffect,
    /// Noise with heavy tails: t with 4 degrees of freedom.
    HeavyTails,
}

/// One study of `rounds` interleaved rounds in drawn order: the log ratios of arm to baseline, of
/// which the true one is `ln_ratio`, when runs vary by `run_sd`.
fn study(
    rng: &mut Xoshiro256PlusPlus,
    rounds: u32,
    ln_ratio: f64,
    run_sd: f64,
    disturbance: Disturbance,
) -> TTest {
    let heavy = StudentT::new(4.0).expect("4 is positive");
    let noise = |rng: &mut Xoshiro256PlusPlus| match disturbance {
        // The variance of a t with 4 degrees of freedom is 2.
        Disturbance::HeavyTails => run_sd * heavy.sample(rng) / 2.0_f64.sqrt(),
        _ => run_sd * normal(rng),
    };
    let differences: Vec<f64> = (0..rounds)
        .map(|round| {
            let baseline_first: bool = rng.random();
            let round_effect = match disturbance {
                Disturbance::RoundEffect => 0.05 * normal(rng),
                _ => 0.0,
            };
            let drift_at = |run: u32| match disturbance {
                Disturbance::Drift => 0.012 * f64::from(2 * round + run),
                _ => 0.0,
            };
            let baseline = round_effect + drift_at(u32::from(!baseline_first)) + noise(rng);
            let arm = round_effect + drift_at(u32::from(baseline_first)) + noise(rng) + ln_ratio;
            arm - baseline
        })
        .collect();
    TTest::paired(&differences).expect("at least two finite differences")
}

fn claims_a_difference(test: &TTest) -> bool {
    matches!(decide(test, RULES, 1), Verdict::Faster | Verdict::Slower)
}

#[test]
fn the_same_arm_twice_is_called_different_one_time_in_twenty() {
    let mut rng = generator(201);
    for (disturbance, low, high) in [
        (Disturbance::None, 0.042, 0.058),
        (Disturbance::Drift, 0.042, 0.058),
        (Disturbance::RoundEffect, 0.042, 0.058),
        (Disturbance::HeavyTails, 0.035, 0.055),
    ] {
        for rounds in [3, 5, 8] {
            let mut tally = Tally::default();
            for _ in 0..EXPERIMENTS {
                let test = study(&mut rng, rounds, 0.0, 0.041, disturbance);
                tally.count(claims_a_difference(&test));
            }
            tally.assert_between(low, high, &format!("{disturbance:?}, {rounds} rounds"));
        }
    }
}

#[test]
fn of_eight_arms_alike_one_is_called_different_in_one_study_of_twenty_at_most() {
    let mut rng = generator(205);
    let mut tally = Tally::default();
    for _ in 0..EXPERIMENTS {
        let mut runs = || -> Vec<f64> { (0..5).map(|_| 0.041 * normal(&mut rng)).collect() };
        let baseline = runs();
        // All against one baseline, so that the eight tests are not independent.
        let claims = (0..8).map(|_| runs()).filter(|arm| {
            let differences: Vec<f64> = arm.iter().zip(&baseline).map(|(b, a)| b - a).collect();
            let test = TTest::paired(&differences).expect("five finite differences");
            matches!(decide(&test, RULES, 8), Verdict::Faster | Verdict::Slower)
        });
        tally.count(claims.count() > 0);
    }
    tally.assert_between(0.0, 0.06, "eight arms");
}

#[test]
fn a_difference_of_ten_percent_is_found_as_often_as_planned() {
    let mut rng = generator(202);
    for (run_sd, rounds, power) in [
        (0.041, 3, 0.36),
        (0.041, 5, 0.78),
        (0.041, 6, 0.89),
        (0.041, 8, 0.98),
        (0.082, 5, 0.29),
        (0.082, 10, 0.64),
        (0.082, 15, 0.84),
    ] {
        let mut tally = Tally::default();
        for _ in 0..EXPERIMENTS {
            let test = study(&mut rng, rounds, 1.1_f64.ln(), run_sd, Disturbance::None);
            tally.count(decide(&test, RULES, 1) == Verdict::Faster);
        }
        let what = format!("power at {run_sd}, {rounds} rounds");
        tally.assert_between(power - 0.03, power + 0.03, &what);
    }
}

#[test]
fn equality_is_shown_when_runs_are_steady_enough() {
    let mut rng = generator(203);
    for (run_sd, two_one_sided, verdict) in
        [(0.01, 1.00, 0.95), (0.015, 0.94, 0.90), (0.02, 0.69, 0.67), (0.041, 0.04, 0.04)]
    {
        let (mut shown, mut said) = (Tally::default(), Tally::default());
        for _ in 0..EXPERIMENTS {
            let test = study(&mut rng, 8, 0.0, run_sd, Disturbance::None);
            shown.count(test.equivalence_p(RULES.margin.ln_1p()) < 0.05);
            said.count(decide(&test, RULES, 1) == Verdict::Equivalent);
        }
        let near = |p: f64| (p - 0.03, (p + 0.03).min(1.0));
        let (low, high) = near(two_one_sided);
        shown.assert_between(low, high, &format!("two one-sided tests at {run_sd}"));
        let (low, high) = near(verdict);
        said.assert_between(low, high, &format!("\"equivalent\" at {run_sd}"));
    }
}

#[test]
fn a_difference_as_large_as_the_margin_is_rarely_called_equivalent() {
    let mut rng = generator(204);
    for run_sd in [0.01, 0.015, 0.02, 0.041] {
        let mut said = Tally::default();
        for _ in 0..EXPERIMENTS {
            let test = study(&mut rng, 8, 1.03_f64.ln(), run_sd, Disturbance::None);
            said.count(decide(&test, RULES, 1) == Verdict::Equivalent);
        }
        said.assert_between(0.0, 0.05, &format!("\"equivalent\" at 3 % and {run_sd}"));
    }
}
