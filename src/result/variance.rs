//! How steady the throughput of a run was, as `runs[].variance` holds it.

use serde::{Deserialize, Serialize};

use crate::stats::dips::dips;
use crate::stats::series::{IntervalCount, steadiness};
use crate::stats::trend::drift;

/// How steady the throughput was. The rates are of slices of a second, or of the intervals where
/// those are longer; a last, shorter one is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Variance {
    /// Standard deviation over mean of the slices' tps.
    pub cv: Option<f64>,
    /// The same from median and median absolute deviation: 1.4826 MAD / median.
    pub robust_cv: Option<f64>,
    /// 1st percentile of the slices' tps.
    pub p1_tps: Option<f64>,
    /// 5th percentile of the slices' tps.
    pub p5_tps: Option<f64>,
    /// Lowest slice's tps.
    pub min_tps: Option<f64>,
    /// 5th percentile over median.
    pub steadiness: Option<f64>,
    /// Seconds in intervals under a tenth of the median; absent when the median slice holds fewer
    /// than 20 transactions, which is too few to tell.
    pub stall_s: Option<f64>,
    /// Length of the longest stall; absent as `stall_s` is.
    pub longest_stall_s: Option<f64>,
    /// Times of clearly lower throughput.
    pub dips: Vec<Dip>,
    /// Mean time from the start of a dip to the start of the next; absent for fewer than two.
    pub dip_spacing_s: Option<f64>,
    /// The same where at least three dips come regularly.
    pub dip_period_s: Option<f64>,
    /// Slope of the throughput in percent of the mean per minute; absent when the run is too
    /// short to tell.
    pub drift_pct_per_min: Option<f64>,
    /// Two-sided p value of no drift; absent as the slope is.
    pub drift_p: Option<f64>,
}

/// A time of clearly lower throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dip {
    /// Seconds after the start of the window.
    pub start_s: f64,
    /// How long it lasted.
    pub length_s: f64,
    /// How far its worst slice lies under the median, in percent of the median.
    pub depth_pct: f64,
}

impl Variance {
    /// Everything that the intervals of a run tell, in their order.
    pub fn of(intervals: &[IntervalCount]) -> Self {
        let figures = steadiness(intervals);
        let found = dips(intervals);
        let drift = drift(intervals);
        Self {
            cv: figures.cv,
            robust_cv: figures.robust_cv,
            p1_tps: figures.p1_tps,
            p5_tps: figures.p5_tps,
            min_tps: figures.min_tps,
            steadiness: figures.steadiness,
            stall_s: figures.stall_s,
            longest_stall_s: figures.longest_stall_s,
            dips: found
                .dips
                .iter()
                .map(|dip| Dip {
                    start_s: dip.start_s,
                    length_s: dip.length_s,
                    depth_pct: 100.0 * dip.depth,
                })
                .collect(),
            dip_spacing_s: found.spacing_s,
            dip_period_s: found.period_s,
            drift_pct_per_min: drift.map(|drift| drift.pct_per_min),
            drift_p: drift.map(|drift| drift.p),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_dips_and_a_drift_shows_both() {
        let intervals: Vec<IntervalCount> = (0..600)
            .map(|second| {
                let dip = (second + 100) % 150 < 5;
                let transactions = if dip { 400 } else { 1000 + second / 2 };
                IntervalCount { transactions, length_s: 1.0 }
            })
            .collect();
        let variance = Variance::of(&intervals);
        let starts: Vec<f64> = variance.dips.iter().map(|dip| dip.start_s).collect();
        assert_eq!(starts, [50.0, 200.0, 350.0, 500.0]);
        assert_eq!((variance.dips[0].length_s, variance.dip_period_s), (5.0, Some(150.0)));
        assert!((60.0..70.0).contains(&variance.dips[0].depth_pct), "{variance:?}");
        assert!(variance.drift_pct_per_min > Some(2.0) && variance.drift_p < Some(0.05));
        assert_eq!(Variance::of(&[]), Variance::default());
    }
}
