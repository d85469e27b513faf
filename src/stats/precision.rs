//! How well one run knows its own mean.
//!
//! Neighbouring seconds of a database resemble each other, so n seconds are worth fewer than n
//! independent ones. Describes a single run; must never decide between arms: the differences from
//! run to run are larger than those within one, and only rounds show them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::series::{IntervalCount, slices};
use super::student::t_quantile;
use super::summary::{mean, variance};
use super::trend::batch_means;

/// Two-sided 95 %.
const UPPER: f64 = 0.975;
/// Number of batches: few and long, so that their means are nearly independent (Schmeiser, 1982,
/// finds 10 to 30 enough).
const BATCHES: usize = 10;
/// A window has to hold this many autocorrelation times, and this many periods of whatever recurs.
const MIN_TAUS: f64 = 20.0;
const MIN_PERIODS: f64 = 3.0;

/// The mean rate of one run and its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanInterval {
    /// Mean of the slices.
    pub mean_tps: f64,
    /// Lower end of the interval; never below zero.
    pub low_tps: f64,
    /// Upper end of the interval.
    pub high_tps: f64,
    /// Effective sample size: as many independent slices would give the same interval.
    pub ess: f64,
    /// Integrated autocorrelation time in seconds: how long the run takes to forget.
    pub tau_s: f64,
}

/// The mean of a run with the wider of two intervals, each of which fails where the other holds:
/// - AR(1): the lag-one correlation, corrected for its bias (Kendall, 1954), gives the effective
///   sample size T (1 - r) / (1 + r) (Bartlett, 1946);
/// - batch means: ten batches as ten observations (Conway, 1963), which also sees slow waves.
///
/// `None` for fewer than two slices. With fewer than ten only the first is used.
pub fn mean_interval(intervals: &[IntervalCount]) -> Option<MeanInterval> {
    let slices = slices(intervals);
    let slice_s = slices.first()?.length_s;
    let rates: Vec<f64> = slices.iter().map(|s| s.tps()).collect();
    let interval = interval_of(&rates)?;
    Some(MeanInterval { tau_s: interval.tau_s * slice_s, ..interval })
}

/// The same for plain values a second apart.
pub fn interval_of(values: &[f64]) -> Option<MeanInterval> {
    let mean_tps = mean(values)?;
    let s = variance(values)?.sqrt();
    let n = values.len() as f64;
    if s == 0.0 {
        let (low_tps, high_tps) = (mean_tps, mean_tps);
        return Some(MeanInterval { mean_tps, low_tps, high_tps, ess: n, tau_s: 1.0 });
    }
    let n_ar = ar1_sample_size(values, mean_tps);
    let (t, half) = [
        (t_quantile(UPPER, n_ar - 1.0), s / n_ar.sqrt()),
        batch_standard_error(values).unwrap_or((1.0, 0.0)),
    ]
    .map(|(t, se)| (t, t * se))
    .into_iter()
    .max_by(|a, b| a.1.total_cmp(&b.1))?;
    // At most n: alternating values are no better than independent ones.
    let ess = (t * s / half).powi(2).min(n);
    Some(MeanInterval {
        mean_tps,
        low_tps: (mean_tps - half).max(0.0),
        high_tps: mean_tps + half,
        ess,
        tau_s: n / ess,
    })
}

fn ar1_sample_size(values: &[f64], mean: f64) -> f64 {
    let n = values.len() as f64;
    let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let r1 = products / squares;
    let rho = (r1 + (1.0 + 4.0 * r1) / n).clamp(0.0, 0.99);
    (n * (1.0 - rho) / (1.0 + rho)).clamp(2.0, n)
}

/// The t quantile and the standard error from batch means.
fn batch_standard_error(values: &[f64]) -> Option<(f64, f64)> {
    let means = batch_means(values, BATCHES);
    let se = (variance(&means)? / BATCHES as f64).sqrt();
    Some((t_quantile(UPPER, (BATCHES - 1) as f64), se))
}

/// Why a run was too short for what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TooShort {
    /// Fewer than 20 autocorrelation times.
    Autocorrelation {
        /// The autocorrelation time.
        tau_s: f64,
        /// The window.
        window_s: f64,
    },
    /// Fewer than three periods of the dips found in it.
    Dips {
        /// From dip to dip.
        period_s: f64,
        /// The window.
        window_s: f64,
    },
    /// Fewer than three checkpoint intervals of the server.
    Checkpoints {
        /// The server's setting.
        period_s: f64,
        /// The window.
        window_s: f64,
    },
}

/// Seconds, with a decimal where a whole number would say little.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 9.95 { write!(f, "{:.1}", self.0) } else { write!(f, "{:.0}", self.0) }
    }
}

impl fmt::Display for TooShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Autocorrelation { tau_s, window_s } => write!(
                f,
                "run too short: throughput takes about {tau_s:.1} s to forget its past, and \
                 {} s hold fewer than 20 such times. Measure for {:.0} s or longer",
                Short(window_s),
                (MIN_TAUS * tau_s).ceil()
            ),
            Self::Dips { period_s, window_s } => write!(
                f,
                "run too short: throughput dips every {period_s:.0} s, and {} s hold \
                 fewer than three such periods. Measure for {:.0} s or longer",
                Short(window_s),
                (MIN_PERIODS * period_s).ceil()
            ),
            Self::Checkpoints { period_s, window_s } => write!(
                f,
                "run too short: the server checkpoints every {period_s:.0} s, and {} s hold \
                 fewer than three such intervals: how many fall into a run is chance. Measure for \
                 {:.0} s or longer, or let it checkpoint more often",
                Short(window_s),
                (MIN_PERIODS * period_s).ceil()
            ),
        }
    }
}

/// What a window of `window_s` was too short for: autocorrelation, the period of detected dips
/// (where there is one), and the server's checkpoint interval (where it is known).
pub fn too_short(
    window_s: f64,
    interval: Option<&MeanInterval>,
    dip_period_s: Option<f64>,
    checkpoint_interval_s: Option<f64>,
) -> Vec<TooShort> {
    let mut reasons = Vec::new();
    // A window without two slices to compare forgets no faster than one.
    let tau_s = interval.map_or(1.0, |i| i.tau_s);
    if window_s < MIN_TAUS * tau_s {
        reasons.push(TooShort::Autocorrelation { tau_s, window_s });
    }
    let recurs_too_rarely = |period_s: &f64| window_s < MIN_PERIODS * period_s;
    if let Some(period_s) = dip_period_s.filter(recurs_too_rarely) {
        reasons.push(TooShort::Dips { period_s, window_s });
    }
    if let Some(period_s) = checkpoint_interval_s.filter(recurs_too_rarely) {
        reasons.push(TooShort::Checkpoints { period_s, window_s });
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_needs_two_slices() {
        let one = IntervalCount { transactions: 5, length_s: 1.0 };
        assert_eq!(mean_interval(&[]), None);
        assert_eq!(mean_interval(&[one]), None);
        assert!(mean_interval(&[one, one]).is_some());
    }

    #[test]
    fn a_constant_rate_is_known_exactly() {
        let i = interval_of(&[100.0; 50]).unwrap();
        assert_eq!((i.low_tps, i.high_tps, i.ess, i.tau_s), (100.0, 100.0, 50.0, 1.0));
    }

    #[test]
    fn two_values_are_worth_two() {
        // s = sqrt(2), t(.975, 1) = 12.706: 101 +- 12.706
        let i = interval_of(&[100.0, 102.0]).unwrap();
        assert!((i.high_tps - 113.706).abs() < 1e-3 && (i.ess - 2.0).abs() < 1e-9, "{i:?}");
    }

    #[test]
    fn a_run_of_two_plateaus_is_worth_little() {
        // lag-one correlation is nearly 1: the plateau, not the second, is the observation
        let values: Vec<f64> = (0..200).map(|i| if i < 100 { 90.0 } else { 110.0 }).collect();
        let i = interval_of(&values).unwrap();
        assert!(i.ess < 10.0 && i.tau_s > 20.0, "{i:?}");
        let reasons = too_short(200.0, Some(&i), None, None);
        assert!(matches!(reasons[..], [TooShort::Autocorrelation { .. }]), "{reasons:?}");
    }

    #[test]
    fn alternating_values_are_not_worth_more_than_independent_ones() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(100 + i % 2)).collect();
        let i = interval_of(&values).unwrap();
        assert!((i.ess - 200.0).abs() < 1e-6, "{i:?}");
    }

    #[test]
    fn the_autocorrelation_time_is_in_seconds_whatever_the_slices() {
        let run = |length_s: f64| -> Vec<IntervalCount> {
            let rate = |i: u64| if (i / 50).is_multiple_of(2) { 900 } else { 1100 };
            (0..400).map(|i| IntervalCount { transactions: rate(i), length_s }).collect()
        };
        let one = mean_interval(&run(1.0)).unwrap();
        let five = mean_interval(&run(5.0)).unwrap();
        assert!((five.tau_s / one.tau_s - 5.0).abs() < 1e-9);
    }

    #[test]
    fn too_short_says_what_for_and_how_long_would_do() {
        let reasons = too_short(60.0, None, Some(25.0), Some(300.0));
        let text: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        assert_eq!(text.len(), 2);
        assert!(text[0].contains("dips every 25 s") && text[0].contains("Measure for 75 s"));
        assert!(
            text[1].contains("checkpoints every 300 s") && text[1].contains("Measure for 900 s")
        );
        assert_eq!(too_short(900.0, None, Some(25.0), Some(300.0)), []);
        let unknown = too_short(1.0, None, None, None);
        assert_eq!(unknown, [TooShort::Autocorrelation { tau_s: 1.0, window_s: 1.0 }]);
    }
}
