//! Straight lines through points: drift within a run, trends over rounds, effects of order.

use serde::{Deserialize, Serialize};

use super::series::{IntervalCount, slices};
use super::student::two_sided_p;
use super::summary::mean;

/// Batches that a run is cut into for its drift: enough for a slope, few enough that neighbours
/// are nearly independent.
const BATCHES: usize = 10;
/// Below this length a slow wave looks like a drift (29 % false alarms at 60 s when neighbouring
/// seconds correlate by 0.9), so none is given.
const MIN_DRIFT_S: f64 = 300.0;

/// A least-squares line and the t test of its slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change of y per unit of x.
    pub slope: f64,
    /// Two-sided p of a slope of zero, t with n - 2 degrees of freedom.
    pub p: f64,
}

/// Fits `y = a + slope * x` by ordinary least squares. `None` for fewer than three points, or when
/// all x are equal. The p value is that of the test of the correlation of x and y as well.
pub fn trend(points: &[(f64, f64)]) -> Option<Trend> {
    let df = points.len().checked_sub(2).filter(|&df| df > 0)? as f64;
    let xs: Vec<f64> = points.iter().map(|p| p.0).collect();
    let ys: Vec<f64> = points.iter().map(|p| p.1).collect();
    let (mean_x, mean_y) = (mean(&xs)?, mean(&ys)?);
    let sxx: f64 = xs.iter().map(|x| (x - mean_x).powi(2)).sum();
    let sxy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    if sxx <= 0.0 {
        return None;
    }
    let slope = sxy / sxx;
    let residuals: f64 =
        points.iter().map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
    let se = (residuals / df / sxx).sqrt();
    // No residuals: a slope is certain, and so is its absence.
    let t = if slope == 0.0 { 0.0 } else { slope / se };
    Some(Trend { slope, p: two_sided_p(t, df) })
}

/// Whether a run got faster or slower while it ran.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Change in percent of the mean per minute.
    pub pct_per_min: f64,
    /// Change in percent of the mean from the first batch to the last.
    pub pct_over_run: f64,
    /// Two-sided p of no drift, t with 8 degrees of freedom.
    pub p: f64,
    /// Mean of the second half / mean of the first.
    pub half_ratio: f64,
}

/// The drift of a run: a line through the means of ten batches (batch means make neighbours
/// nearly independent; Conway, 1963). `None` for less than 300 s of measuring, and when nothing
/// was committed in a half.
pub fn drift(intervals: &[IntervalCount]) -> Option<Drift> {
    let slices = slices(intervals);
    let slice_s = slices.first()?.length_s;
    if slices.len() < BATCHES || slices.len() as f64 * slice_s < MIN_DRIFT_S {
        return None;
    }
    let rates: Vec<f64> = slices.iter().map(|s| s.tps()).collect();
    let batch_s = (rates.len() / BATCHES) as f64 * slice_s;
    let points: Vec<(f64, f64)> =
        batch_means(&rates, BATCHES).into_iter().enumerate().map(|(i, y)| (i as f64, y)).collect();
    let line = trend(&points)?;
    let (first, second) = rates.split_at(rates.len() / 2);
    let (overall, first, second) = (mean(&rates)?, mean(first)?, mean(second)?);
    if overall <= 0.0 || first <= 0.0 {
        return None;
    }
    Some(Drift {
        pct_per_min: 100.0 * line.slope / overall * 60.0 / batch_s,
        pct_over_run: 100.0 * line.slope / overall * (BATCHES - 1) as f64,
        p: line.p,
        half_ratio: second / first,
    })
}

/// Means of `batches` equally long stretches without gaps; what is left over, fewer values than
/// there are batches, is dropped at the start, next to the warm-up.
pub(super) fn batch_means(values: &[f64], batches: usize) -> Vec<f64> {
    let length = values.len() / batches;
    if length == 0 {
        return Vec::new();
    }
    let dropped = values.len() - length * batches;
    values[dropped..].chunks_exact(length).filter_map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(rate: impl Fn(u32) -> u64, n: u32) -> Vec<IntervalCount> {
        (0..n).map(|i| IntervalCount { transactions: rate(i), length_s: 1.0 }).collect()
    }

    #[test]
    fn a_line_agrees_with_arithmetic_by_hand() {
        // Anscombe's first set (1973): slope 0.50009, p 0.00217
        let xs = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let ys = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let points: Vec<_> = xs.into_iter().zip(ys).collect();
        let line = trend(&points).unwrap();
        assert!((line.slope - 0.500_09).abs() < 1e-5 && (line.p - 0.002_17).abs() < 1e-5);
    }

    #[test]
    fn a_line_needs_three_points_at_different_places() {
        assert_eq!(trend(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(trend(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
        let exact = trend(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert_eq!((exact.slope, exact.p), (2.0, 0.0));
        let flat = trend(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]).unwrap();
        assert_eq!((flat.slope, flat.p), (0.0, 1.0));
    }

    #[test]
    fn a_steady_rise_is_measured_in_percent_per_minute() {
        // 1000 + 1 a second over 600 s, mean 1299.5: 60 a minute
        let d = drift(&seconds(|i| 1000 + u64::from(i), 600)).unwrap();
        assert!((d.pct_per_min - 100.0 * 60.0 / 1299.5).abs() < 1e-9, "{d:?}");
        assert!((d.pct_over_run - 100.0 * 540.0 / 1299.5).abs() < 1e-9, "{d:?}");
        assert!(d.p < 1e-6 && (d.half_ratio - 1449.5 / 1149.5).abs() < 1e-9);
    }

    #[test]
    fn short_or_empty_runs_have_no_drift() {
        assert_eq!(drift(&seconds(|_| 100, 299)), None);
        assert_eq!(drift(&seconds(|_| 0, 600)), None);
        assert_eq!(drift(&[]), None);
        assert_eq!(drift(&seconds(|_| 100, 300)).map(|d| d.pct_per_min), Some(0.0));
    }

    #[test]
    fn what_does_not_fill_a_batch_is_dropped_at_the_start() {
        let values: Vec<f64> = (0..23).map(f64::from).collect();
        assert_eq!(batch_means(&values, 10)[0], 3.5);
        assert_eq!(batch_means(&values, 10)[9], 21.5);
        assert_eq!(batch_means(&values[..9], 10), Vec::<f64>::new());
    }
}
