//! Dips: stretches in which a run did markedly less than usual, and whether they recur.
//!
//! Finds them in the rates alone. What happened at the time (a checkpoint, a vacuum) is read from
//! the server by others and joined here.

use serde::{Deserialize, Serialize};

use super::series::{IntervalCount, MIN_MEDIAN_FOR_STALLS, slices};
use super::summary::{mean, median, ratio, robust_stddev, stddev};

/// A dip lies this many robust standard deviations under the median: 5 of them are passed by normal
/// noise once in 3.5 million slices, in about one half hour of a thousand.
const MIN_SIGMAS: f64 = 5.0;
/// And at least this share of the median, so that a very steady run is not searched for trifles.
const MIN_DEPTH: f64 = 0.2;
/// Dips with a gap of at most this between them are one.
const MAX_GAP_S: f64 = 2.0;
/// Spacings vary by less than this (coefficient of variation): the dips recur.
const MAX_SPACING_CV: f64 = 0.3;

/// A stretch far below the median.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dip {
    /// Its start, in seconds from the start of the window.
    pub start_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// How far down: the share of the median rate missing in its worst slice, 0 to 1.
    pub depth: f64,
}

/// The dips of a run, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Dips {
    /// Each of them.
    pub dips: Vec<Dip>,
    /// Mean time from start to start, in seconds, when there are at least two.
    pub spacing_s: Option<f64>,
    /// The same when there are at least three and they come regularly: "every 150 s".
    pub period_s: Option<f64>,
}

/// Finds the dips of a run. As with stalls, a run whose median slice holds fewer than 20
/// transactions is too sparse to tell a dip from chance and has none.
pub fn dips(intervals: &[IntervalCount]) -> Dips {
    let slices = slices(intervals);
    let counts: Vec<f64> = slices.iter().map(|s| s.transactions as f64).collect();
    if median(&counts).is_none_or(|m| m < MIN_MEDIAN_FOR_STALLS) {
        return Dips::default();
    }
    let rates: Vec<f64> = slices.iter().map(|s| s.tps()).collect();
    let slice_s = slices[0].length_s;
    let dips = dips_of(&rates, slice_s);
    let spacings: Vec<f64> = dips.windows(2).map(|w| w[1].start_s - w[0].start_s).collect();
    let spacing_s = mean(&spacings);
    let regular = stddev(&spacings)
        .zip(spacing_s)
        .and_then(|(s, m)| ratio(s, m))
        .is_some_and(|cv| cv < MAX_SPACING_CV);
    Dips { dips, spacing_s, period_s: spacing_s.filter(|_| regular) }
}

fn dips_of(rates: &[f64], slice_s: f64) -> Vec<Dip> {
    let (Some(median), Some(sigma)) = (median(rates), robust_stddev(rates)) else {
        return Vec::new();
    };
    let threshold = median - (MIN_SIGMAS * sigma).max(MIN_DEPTH * median);
    let mut dips: Vec<Dip> = Vec::new();
    for (i, &rate) in rates.iter().enumerate().filter(|(_, rate)| **rate < threshold) {
        let start_s = i as f64 * slice_s;
        let depth = 1.0 - rate / median;
        match dips.last_mut() {
            // 1e-6: sums of slices of a tenth are not exact
            Some(dip) if start_s - (dip.start_s + dip.length_s) <= MAX_GAP_S + 1e-6 => {
                dip.length_s = start_s + slice_s - dip.start_s;
                dip.depth = dip.depth.max(depth);
            }
            _ => dips.push(Dip { start_s, length_s: slice_s, depth }),
        }
    }
    dips
}

/// How often dips meet something that the server did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coincidence {
    /// Dips looked at.
    pub dips: usize,
    /// Those that overlap with at least one event.
    pub coincident: usize,
    /// Share of the window that the events cover: what chance alone would make coincide.
    pub covered: f64,
}

/// Joins dips with events, each from its start to its end in seconds from the start of the window.
/// A dip also counts when it begins up to `slack_s` after an event's end or ends up to that long
/// before its start (intervals are coarse, clocks differ).
pub fn coincidence(
    dips: &[Dip],
    events: &[(f64, f64)],
    slack_s: f64,
    window_s: f64,
) -> Coincidence {
    let mut widened: Vec<(f64, f64)> = events
        .iter()
        .map(|&(start, end)| ((start - slack_s).max(0.0), (end + slack_s).min(window_s)))
        .filter(|(start, end)| start < end)
        .collect();
    widened.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut covered_s = 0.0;
    let mut covered_to = 0.0_f64;
    for &(start, end) in &widened {
        covered_s += (end - start.max(covered_to)).max(0.0);
        covered_to = covered_to.max(end);
    }
    let meets = |dip: &&Dip| {
        let end_s = dip.start_s + dip.length_s;
        widened.iter().any(|&(start, end)| dip.start_s <= end && start <= end_s)
    };
    Coincidence {
        dips: dips.len(),
        coincident: dips.iter().filter(meets).count(),
        covered: ratio(covered_s, window_s).unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Around 1000 a second with a little unevenness, except where `depth` says how much is gone.
    fn run(n: u32, depth: impl Fn(u32) -> f64) -> Vec<IntervalCount> {
        (0..n)
            .map(|i| {
                let rate = f64::from(1000 + i * 7 % 41) * (1.0 - depth(i));
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small"
                )]
                let transactions = rate as u64;
                IntervalCount { transactions, length_s: 1.0 }
            })
            .collect()
    }

    #[test]
    fn an_even_run_has_no_dips() {
        assert_eq!(dips(&run(600, |_| 0.0)), Dips::default());
        assert_eq!(dips(&[]), Dips::default());
    }

    #[test]
    fn a_dip_has_start_length_and_depth() {
        let found = dips(&run(600, |i| if (100..115).contains(&i) { 0.5 } else { 0.0 }));
        let [dip] = found.dips[..] else { panic!("{found:?}") };
        assert_eq!((dip.start_s, dip.length_s), (100.0, 15.0));
        assert!((dip.depth - 0.5).abs() < 0.03, "{dip:?}");
        assert_eq!((found.spacing_s, found.period_s), (None, None));
    }

    #[test]
    fn less_than_a_fifth_is_not_a_dip_however_steady_the_run() {
        assert_eq!(dips(&run(600, |i| if i == 300 { 0.17 } else { 0.0 })).dips, []);
        assert_eq!(dips(&run(600, |i| if i == 300 { 0.25 } else { 0.0 })).dips.len(), 1);
    }

    #[test]
    fn gaps_of_two_seconds_are_bridged_and_three_are_not() {
        let with_gap =
            |gap: u32| dips(&run(600, |i| if i == 50 || i == 51 + gap { 0.9 } else { 0.0 }));
        assert_eq!(with_gap(2).dips.len(), 1);
        assert_eq!(with_gap(2).dips[0].length_s, 4.0);
        assert_eq!(with_gap(3).dips.len(), 2);
    }

    #[test]
    fn regular_dips_have_a_period_and_irregular_ones_have_not() {
        let every =
            |at: &'static [u32]| dips(&run(900, |i| if at.contains(&i) { 0.8 } else { 0.0 }));
        let regular = every(&[60, 210, 361, 509]);
        assert!((regular.period_s.unwrap() - 149.667).abs() < 0.01, "{regular:?}");
        let irregular = every(&[60, 80, 400, 850]);
        assert_eq!((irregular.dips.len(), irregular.period_s), (4, None));
        assert!(irregular.spacing_s.is_some());
        assert_eq!(every(&[100, 200]).period_s, None, "two dips are one spacing");
    }

    #[test]
    fn a_sparse_run_has_no_dips() {
        let rows = |n: u64| -> Vec<IntervalCount> {
            let mut rows = vec![IntervalCount { transactions: n, length_s: 1.0 }; 60];
            rows[30].transactions = 0;
            rows
        };
        assert_eq!(dips(&rows(19)).dips, []);
        assert_eq!(dips(&rows(20)).dips.len(), 1);
    }

    #[test]
    fn dips_are_joined_with_events_and_chance_is_stated() {
        let dip = |start_s| Dip { start_s, length_s: 5.0, depth: 0.5 };
        let dips = [dip(10.0), dip(60.0), dip(80.0)];
        // overlapping events count once in the share; the second dip starts 1 s after an end
        let joined = coincidence(&dips, &[(8.0, 12.0), (10.0, 18.0), (50.0, 59.0)], 1.0, 100.0);
        assert_eq!((joined.dips, joined.coincident), (3, 2));
        assert!((joined.covered - 0.23).abs() < 1e-12, "{joined:?}");
        assert_eq!(coincidence(&[], &[], 1.0, 0.0).coincident, 0);
    }
}
