//! The values of arms over rounds and levels, and what can be wrong between rounds: gaps, trends,
//! effects of order.
//!
//! Prepares the comparison of `verdict`; decides nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::summary::{mean, stddev};
use super::trend::trend;

/// Trends and order effects are warned about below this p.
const WARN_BELOW_P: f64 = 0.05;

/// One arm: its name and the figure (such as mean tps) of every cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// `values[round][level]`; `None` where the run failed or is missing. A value that is not
    /// above zero has no logarithm and counts as missing.
    pub values: Vec<Vec<Option<f64>>>,
}

impl Arm {
    /// The logarithm of one cell.
    pub fn ln_value(&self, round: usize, level: usize) -> Option<f64> {
        let value = (*self.values.get(round)?.get(level)?)?;
        (value.is_finite() && value > 0.0).then(|| value.ln())
    }

    /// The logarithms of one level in all rounds that have it.
    pub fn ln_level(&self, level: usize) -> Vec<f64> {
        (0..self.values.len()).filter_map(|round| self.ln_value(round, level)).collect()
    }

    /// The logarithm of a round's geometric mean over `levels` levels; `None` unless the round has
    /// all of them (a mean over other levels is another figure).
    pub fn ln_round(&self, round: usize, levels: usize) -> Option<f64> {
        let logs: Option<Vec<f64>> = (0..levels).map(|level| self.ln_value(round, level)).collect();
        mean(&logs?)
    }

    /// [`Self::ln_round`] of all complete rounds, with their number from 0.
    pub fn ln_rounds(&self, levels: usize) -> Vec<(usize, f64)> {
        let round = |r| self.ln_round(r, levels).map(|ln| (r, ln));
        (0..self.values.len()).filter_map(round).collect()
    }
}

/// How one arm varied from round to round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundTrend {
    /// The arm.
    pub arm: String,
    /// Complete rounds.
    pub rounds: usize,
    /// Standard deviation of the logarithms between rounds: 0.04 is about 4 %.
    pub ln_stddev: f64,
    /// Change from round to round in percent, from a straight line through the logarithms.
    pub pct_per_round: f64,
    /// Two-sided p of no change.
    pub p: f64,
}

impl RoundTrend {
    /// The trend of an arm over its complete rounds; `None` for fewer than three.
    pub fn of(arm: &Arm, levels: usize) -> Option<Self> {
        let rounds = arm.ln_rounds(levels);
        let points: Vec<(f64, f64)> = rounds.iter().map(|&(r, ln)| (r as f64, ln)).collect();
        let logs: Vec<f64> = rounds.iter().map(|&(_, ln)| ln).collect();
        let line = trend(&points)?;
        Some(Self {
            arm: arm.name.clone(),
            rounds: logs.len(),
            ln_stddev: stddev(&logs)?,
            pct_per_round: 100.0 * line.slope.exp_m1(),
            p: line.p,
        })
    }

    /// Whether the reader has to be warned.
    pub fn is_warning(&self) -> bool {
        self.p < WARN_BELOW_P
    }
}

impl fmt::Display for RoundTrend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.pct_per_round < 0.0 { "fell" } else { "rose" };
        write!(
            f,
            "{} {direction} by {:.1} % a round over {} rounds (p = {:.2}): the machine warmed \
             up or the data aged; warm up longer or restore the data between rounds",
            self.arm,
            self.pct_per_round.abs(),
            self.rounds,
            self.p
        )
    }
}

/// Whether runs, in the order of time, are interleaved: all runs of a round stand together. Runs of
/// one arm followed by all runs of the other do not.
pub fn is_interleaved(rounds_in_time_order: &[u32]) -> bool {
    let mut begun: Vec<u32> = Vec::new();
    rounds_in_time_order.chunk_by(|a, b| a == b).all(|round| {
        let first = !begun.contains(&round[0]);
        begun.push(round[0]);
        first
    })
}

/// The p of "it does not matter which arm ran first": the correlation of the log ratios of the
/// rounds with their order, +1 where the baseline ran first, -1 where the other did, and between
/// where it differed by level. `None` for fewer than three rounds or when the order was always the
/// same. Below 0.05 the reader has to be warned.
pub fn order_effect_p(ln_ratios: &[f64], order: &[f64]) -> Option<f64> {
    if ln_ratios.len() != order.len() {
        return None;
    }
    let points: Vec<(f64, f64)> = order.iter().copied().zip(ln_ratios.iter().copied()).collect();
    trend(&points).map(|line| line.p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(values: &[&[f64]]) -> Arm {
        let round = |r: &&[f64]| r.iter().map(|v| Some(*v)).collect();
        Arm { name: "pg18/xfs".to_owned(), values: values.iter().map(round).collect() }
    }

    #[test]
    fn a_round_without_all_levels_is_left_out() {
        let mut a = arm(&[&[100.0, 400.0], &[100.0, 0.0], &[100.0], &[f64::NAN, 400.0]]);
        a.values.push(vec![None, Some(400.0)]);
        let rounds = a.ln_rounds(2);
        assert_eq!(rounds.len(), 1);
        assert!((rounds[0].1.exp() - 200.0).abs() < 1e-9, "the geometric mean of 100 and 400");
        assert_eq!(a.ln_level(0).len(), 3);
        assert_eq!(a.ln_level(1).len(), 3);
        assert_eq!(a.ln_value(9, 0), None);
    }

    #[test]
    fn a_trend_is_said_in_percent_a_round() {
        let rising = arm(&[&[100.0], &[102.1], &[103.9], &[106.2], &[108.1]]);
        let trend = RoundTrend::of(&rising, 1).unwrap();
        assert!((trend.pct_per_round - 1.96).abs() < 0.05 && trend.is_warning(), "{trend:?}");
        assert!(trend.to_string().starts_with("pg18/xfs rose by 2.0 % a round over 5 rounds"));
        let level = arm(&[&[100.0], &[102.0], &[99.0], &[101.0]]);
        assert!(!RoundTrend::of(&level, 1).unwrap().is_warning());
        assert_eq!(RoundTrend::of(&arm(&[&[1.0], &[2.0]]), 1), None);
    }

    #[test]
    fn interleaved_means_that_the_runs_of_a_round_stand_together() {
        assert!(is_interleaved(&[1, 1, 2, 2, 3, 3]));
        assert!(is_interleaved(&[2, 2, 1, 1]));
        assert!(!is_interleaved(&[1, 1, 2, 1]));
        assert!(!is_interleaved(&[1, 2, 3, 1, 2, 3]));
        assert!(is_interleaved(&[]));
    }

    #[test]
    fn an_effect_of_order_is_a_correlation_with_it() {
        let order = [1.0, -1.0, 1.0, 1.0, -1.0, -1.0];
        let p = order_effect_p(&[0.05, -0.05, 0.06, 0.05, -0.04, -0.05], &order).unwrap();
        assert!(p < 0.001, "{p}");
        let p = order_effect_p(&[0.05, 0.05, -0.06, 0.02, -0.04, 0.01], &order).unwrap();
        assert!(p > 0.3, "{p}");
        assert_eq!(order_effect_p(&[0.1, 0.2, 0.3], &[1.0; 3]), None);
        assert_eq!(order_effect_p(&[0.1, 0.2], &[1.0]), None);
    }
}
