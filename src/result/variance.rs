//! How steady the throughput of a run was, as `runs[].variance` holds it.

use serde::{Deserialize, Serialize};

use super::event::Event;
use crate::stats::dips::{self, dips};
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
    /// What of each kind of event the dips coincide with.
    pub dip_events: Vec<DipEvents>,
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

/// How many dips coincide with events of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DipEvents {
    /// The kind.
    pub kind: String,
    /// Dips that overlap with at least one such event, give or take a second.
    pub coincident: usize,
    /// Share of the window that such events cover: what chance alone would make coincide.
    pub covered: f64,
}

/// An interval ends up to a second after what is in it, and clocks differ.
const SLACK_S: f64 = 1.0;
/// These are what a dip looks like from a client, not what may be behind it.
const NOT_JOINED: [&str; 2] = ["error", "reconnect"];

impl Variance {
    /// Notes which dips coincide with which of the run's events.
    pub fn join(&mut self, events: &[Event], window_s: f64) {
        let mut kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.retain(|kind| !NOT_JOINED.contains(kind));
        let dips: Vec<dips::Dip> = self
            .dips
            .iter()
            .map(|dip| dips::Dip {
                start_s: dip.start_s,
                length_s: dip.length_s,
                depth: dip.depth_pct / 100.0,
            })
            .collect();
        let joined = kinds.into_iter().map(|kind| {
            let times: Vec<(f64, f64)> = events
                .iter()
                .filter(|event| event.kind == kind)
                .map(|event| (event.start_s, event.end_s.unwrap_or(window_s)))
                .collect();
            let found = dips::coincidence(&dips, &times, SLACK_S, window_s);
            DipEvents {
                kind: kind.to_owned(),
                coincident: found.coincident,
                covered: found.covered,
            }
        });
        self.dip_events = joined.filter(|_| !dips.is_empty()).collect();
    }

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
            dip_events: Vec::new(),
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

    #[test]
    fn dips_are_joined_with_the_events_of_each_kind() {
        let dip = |start_s| Dip { start_s, length_s: 3.0, depth_pct: 60.0 };
        let event = |kind: &str, start_s, end_s| Event {
            arm: String::new(),
            round: 1,
            workload: String::new(),
            clients: 1,
            kind: kind.to_owned(),
            subject: None,
            start_s,
            end_s,
            time: String::new(),
            count: 1,
            text: None,
        };
        let mut variance =
            Variance { dips: vec![dip(10.0), dip(40.0), dip(95.0)], ..Variance::default() };
        let events = [
            event("checkpoint", -5.0, Some(11.0)),
            event("autovacuum", 60.0, Some(61.0)),
            event("checkpoint", 90.0, None),
            event("error", 40.0, Some(41.0)),
        ];
        variance.join(&events, 100.0);
        let joined: Vec<(&str, usize)> =
            variance.dip_events.iter().map(|of| (of.kind.as_str(), of.coincident)).collect();
        assert_eq!(joined, [("autovacuum", 0), ("checkpoint", 2)]);
        assert!((variance.dip_events[1].covered - 0.23).abs() < 1e-9, "{variance:?}");
    }
}
