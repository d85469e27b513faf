//! How steady a run was, from its transactions per interval.
//!
//! # Slices
//! The figures are defined on slices of about a second. Intervals shorter than a second are put
//! together, as many as are needed to fill one (ten of 100 ms, four of 300 ms); a longer interval
//! is a slice by itself. Whatever is left at the end and shorter than a slice, including a partial
//! last interval, is left out. Values are rates, so that slices of 1.2 s or 10 s compare with
//! others; only their noise is smaller. Stalls alone are looked for in the intervals themselves.

use serde::{Deserialize, Serialize};

use super::summary::{mean, quantile_of_sorted, ratio, robust_stddev, sorted, stddev};

/// The smallest median of transactions per interval at which an interval with hardly any is a stall
/// and not chance: at 20 expected, Poisson arrivals fall below 2 once in 25 million intervals.
pub(super) const MIN_MEDIAN_FOR_STALLS: f64 = 20.0;
/// An interval is stalled below this share of the median.
const STALLED_SHARE: f64 = 0.1;

/// One interval of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalCount {
    /// Transactions committed in it.
    pub transactions: u64,
    /// Its length in seconds.
    pub length_s: f64,
}

impl IntervalCount {
    /// Transactions per second.
    pub fn tps(self) -> f64 {
        self.transactions as f64 / self.length_s
    }
}

/// The steadiness of one run. A figure that does not exist (too short a run, nothing committed) is
/// `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Slices that the figures are made of.
    pub slices: usize,
    /// Length of a slice in seconds.
    pub slice_s: f64,
    /// Coefficient of variation: standard deviation / mean.
    pub cv: Option<f64>,
    /// The same from median and median absolute deviation, which a few bad slices do not move.
    pub robust_cv: Option<f64>,
    /// 99 % of the slices have at least this rate.
    pub p1_tps: Option<f64>,
    /// 95 % of the slices have at least this rate.
    pub p5_tps: Option<f64>,
    /// Median rate of the slices.
    pub p50_tps: Option<f64>,
    /// 5 % of the slices have at least this rate.
    pub p95_tps: Option<f64>,
    /// The worst slice.
    pub min_tps: Option<f64>,
    /// p5 / p50: 1 is perfectly steady, 0 stands still one time in twenty.
    pub steadiness: Option<f64>,
    /// Interquartile range / median.
    pub iqr_share: Option<f64>,
    /// Seconds in intervals below a tenth of the median; `None`: not assessable, see [`stalls`].
    pub stall_s: Option<f64>,
    /// Longest unbroken stretch of them, in seconds.
    pub longest_stall_s: Option<f64>,
    /// Seconds in intervals without any transaction; `None` as above.
    pub zero_s: Option<f64>,
}

/// Describes the steadiness of a run from its measured intervals, in order.
pub fn steadiness(intervals: &[IntervalCount]) -> Steadiness {
    let slices = slices(intervals);
    let rates: Vec<f64> = slices.iter().map(|s| s.tps()).collect();
    let rising = sorted(&rates);
    let at = |q| quantile_of_sorted(&rising, q);
    // One slice says nothing of spread.
    let several = rates.len() > 1;
    let over_median = |figure: Option<f64>| ratio(figure.filter(|_| several)?, at(0.5)?);
    let stalls = stalls(intervals);
    Steadiness {
        slices: slices.len(),
        slice_s: slices.first().map_or(0.0, |s| s.length_s),
        cv: stddev(&rates).zip(mean(&rates)).and_then(|(s, m)| ratio(s, m)),
        robust_cv: over_median(robust_stddev(&rates)),
        p1_tps: at(0.01),
        p5_tps: at(0.05),
        p50_tps: at(0.5),
        p95_tps: at(0.95),
        min_tps: rising.first().copied(),
        steadiness: over_median(at(0.05)),
        iqr_share: over_median(at(0.75).zip(at(0.25)).map(|(high, low)| high - low)),
        stall_s: stalls.map(|s| s.stall_s),
        longest_stall_s: stalls.map(|s| s.longest_stall_s),
        zero_s: stalls.map(|s| s.zero_s),
    }
}

/// Slices of about a second, see the head of this file.
pub fn slices(intervals: &[IntervalCount]) -> Vec<IntervalCount> {
    let whole = whole_intervals(intervals);
    let Some(first) = whole.first() else { return Vec::new() };
    // 1e-6: a tenth of a second is no binary fraction; 10 of them must still fill a second.
    let mut per_slice = 1_u32;
    while f64::from(per_slice) * first.length_s < 1.0 - 1e-6 {
        per_slice += 1;
    }
    whole
        .chunks_exact(per_slice as usize)
        .map(|chunk| IntervalCount {
            transactions: chunk.iter().map(|i| i.transactions).sum(),
            length_s: chunk.iter().map(|i| i.length_s).sum(),
        })
        .collect()
}

/// The intervals without a partial last one. A run of a single interval keeps it. Intervals
/// without a length (there are none in a sound file) end the series.
fn whole_intervals(intervals: &[IntervalCount]) -> &[IntervalCount] {
    let sound = intervals.iter().position(|i| i.length_s.is_nan() || i.length_s <= 0.0);
    let intervals = &intervals[..sound.unwrap_or(intervals.len())];
    match intervals {
        [first, .., last] if last.length_s < first.length_s * 0.999 => {
            &intervals[..intervals.len() - 1]
        }
        _ => intervals,
    }
}

/// Time in which hardly anything was committed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// Seconds in intervals below a tenth of the median.
    pub stall_s: f64,
    /// Longest unbroken stretch of them in seconds.
    pub longest_stall_s: f64,
    /// Seconds in intervals without any transaction.
    pub zero_s: f64,
}

/// Looks for stalls in the intervals as they were recorded or, where those hold too few
/// transactions, in slices of a second. `None`: also the median slice holds fewer than 20
/// transactions, so that an empty one may be chance.
///
/// When more than half of the intervals are empty, the median is taken of the others: the
/// longest stalls must not hide themselves.
pub fn stalls(intervals: &[IntervalCount]) -> Option<Stalls> {
    let intervals = whole_intervals(intervals);
    stalls_among(intervals).or_else(|| stalls_among(&slices(intervals)))
}

fn stalls_among(intervals: &[IntervalCount]) -> Option<Stalls> {
    let counts = |keep: fn(u64) -> bool| -> Vec<f64> {
        let kept = intervals.iter().map(|i| i.transactions).filter(|&n| keep(n));
        kept.map(|n| n as f64).collect()
    };
    let median = match super::summary::median(&counts(|_| true))? {
        0.0 => super::summary::median(&counts(|n| n > 0))?,
        median => median,
    };
    if median < MIN_MEDIAN_FOR_STALLS {
        return None;
    }
    let mut found = Stalls { stall_s: 0.0, longest_stall_s: 0.0, zero_s: 0.0 };
    let mut current_s = 0.0;
    for interval in intervals {
        if (interval.transactions as f64) < STALLED_SHARE * median {
            current_s += interval.length_s;
            found.stall_s += interval.length_s;
        } else {
            current_s = 0.0;
        }
        if interval.transactions == 0 {
            found.zero_s += interval.length_s;
        }
        found.longest_stall_s = found.longest_stall_s.max(current_s);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(transactions: u64, length_s: f64) -> IntervalCount {
        IntervalCount { transactions, length_s }
    }

    fn seconds(counts: &[u64]) -> Vec<IntervalCount> {
        counts.iter().map(|&n| row(n, 1.0)).collect()
    }

    fn near(figure: Option<f64>, expected: f64) -> bool {
        figure.is_some_and(|f| (f - expected).abs() < 1e-9)
    }

    #[test]
    fn nothing_measured_has_no_figures() {
        assert_eq!(steadiness(&[]), Steadiness::default());
        let one = steadiness(&[row(50, 0.4)]);
        assert_eq!((one.slices, one.cv), (0, None), "less than a slice is not a slice");
        let one = steadiness(&[row(50, 1.0)]);
        assert_eq!((one.cv, one.robust_cv, one.steadiness), (None, None, None), "no spread");
        assert_eq!((one.p5_tps, one.min_tps), (Some(50.0), Some(50.0)));
    }

    #[test]
    fn nothing_committed_is_a_rate_of_zero_and_no_ratio() {
        let s = steadiness(&seconds(&[0, 0, 0]));
        assert_eq!((s.min_tps, s.p50_tps), (Some(0.0), Some(0.0)));
        assert_eq!((s.cv, s.steadiness, s.stall_s), (None, None, None));
    }

    #[test]
    fn the_figures_agree_with_arithmetic_by_hand() {
        // mean 100, deviations -20 -10 0 10 20, variance 1000/4
        let s = steadiness(&seconds(&[100, 80, 120, 90, 110]));
        assert!(near(s.cv, 250_f64.sqrt() / 100.0));
        assert!(near(s.robust_cv, 0.14826));
        assert!(near(s.p5_tps, 82.0) && near(s.p1_tps, 80.4) && near(s.min_tps, 80.0));
        assert!(near(s.steadiness, 0.82) && near(s.iqr_share, 0.2));
        assert!(near(s.stall_s, 0.0) && near(s.longest_stall_s, 0.0));
    }

    #[test]
    fn a_server_stopped_for_three_seconds_stalls_three_seconds() {
        let s = steadiness(&seconds(&[900, 950, 0, 0, 0, 930, 910, 905]));
        assert!(near(s.stall_s, 3.0) && near(s.longest_stall_s, 3.0) && near(s.zero_s, 3.0));
        // not in step with the seconds: the edges still commit something
        let s = steadiness(&seconds(&[900, 400, 0, 0, 520, 910, 905, 900]));
        assert!(near(s.stall_s, 2.0));
        // the same at 100 ms finds it to a tenth
        let mut rows = vec![row(90, 0.1); 80];
        rows[14..44].fill(row(0, 0.1));
        let s = steadiness(&rows);
        assert!(near(s.stall_s, 3.0) && near(s.longest_stall_s, 3.0), "{s:?}");
    }

    #[test]
    fn a_stall_of_most_of_the_run_does_not_hide_itself() {
        let s = steadiness(&seconds(&[900, 0, 0, 0, 910]));
        assert!(near(s.stall_s, 3.0) && near(s.zero_s, 3.0));
    }

    #[test]
    fn a_tenth_of_the_median_is_not_a_stall_but_less_is() {
        let s = steadiness(&seconds(&[100, 100, 10, 100, 9, 9, 100]));
        assert!(near(s.stall_s, 2.0) && near(s.longest_stall_s, 2.0) && near(s.zero_s, 0.0));
    }

    #[test]
    fn stalls_are_not_assessable_under_twenty_transactions_per_interval() {
        assert_eq!(steadiness(&seconds(&[19, 19, 0, 19])).stall_s, None);
        assert!(near(steadiness(&seconds(&[20, 20, 0, 20])).stall_s, 1.0));
        // 100 ms intervals of 5 hold too few, their seconds of 50 do not
        let mut rows = vec![row(5, 0.1); 100];
        rows[30..60].fill(row(0, 0.1));
        assert!(near(steadiness(&rows).stall_s, 3.0));
    }

    #[test]
    fn short_intervals_are_put_together_to_seconds() {
        let tenths: Vec<_> = (0..30).map(|i| row(if i % 2 == 0 { 8 } else { 12 }, 0.1)).collect();
        let s = steadiness(&tenths);
        assert_eq!(s.slices, 3);
        assert!(near(s.cv, 0.0) && near(s.p50_tps, 100.0), "{s:?}");
        let s = steadiness(&[row(30, 0.3); 10]);
        assert_eq!(s.slices, 2, "four of 300 ms fill a second, two are left over");
        assert!(near(s.p50_tps, 100.0) && near(Some(s.slice_s), 1.2));
        assert_eq!(steadiness(&[row(500, 5.0); 4]).slices, 4, "longer ones stand alone");
    }

    #[test]
    fn a_partial_last_interval_is_left_out() {
        let s = steadiness(&[row(100, 1.0), row(100, 1.0), row(1, 0.2)]);
        assert_eq!((s.slices, s.min_tps), (2, Some(100.0)));
        assert_eq!(slices(&[row(100, 1.0), row(3, 0.0), row(7, f64::NAN)]).len(), 1);
    }
}
