//! Hands what a level reports to the results folder and to the person who waits.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::Feeds;
use super::records::Records;
use super::sweep::SweepClock;
use crate::report::pgbench::{Progress, progress_line};
use crate::report::{ResultFolder, Talk};
use crate::result::IntervalRow;
use crate::runner::level::{Interval, Observer};
use crate::runner::log::Entry;
use crate::runner::tally::OpenTally;
use crate::stats::histogram::Histogram;
use crate::units::plural;
use crate::units::{format_duration, format_tps};

/// Where a run's intervals go: which arm, round, workload and level they belong to.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) arm: String,
    pub(crate) round: u32,
    pub(crate) workload: String,
    pub(crate) clients: u32,
}

/// Writes rows and shows lines; remembers the first write error for the end of the run.
pub(crate) struct Watch<'a, 'r> {
    pub(crate) place: Place,
    pub(crate) folder: &'a mut ResultFolder,
    pub(crate) talk: &'a mut Talk,
    pub(crate) records: Records<'r>,
    pub(crate) write_error: Option<String>,
    pub(crate) sweep: SweepClock,
    pub(crate) feeds: &'a Feeds,
    /// Transactions may be tried again.
    pub(crate) retries: bool,
    /// While clients join.
    pub(crate) ramp: Duration,
    /// There is a latency limit.
    pub(crate) limited: bool,
}

impl Observer for Watch<'_, '_> {
    fn started(&mut self, connecting: Duration) {
        // Not part of any figure, but a wait that wants an explanation.
        if connecting >= Duration::from_secs(1) {
            let clients = self.place.clients;
            let seconds = connecting.as_secs_f64();
            self.talk.say(&format!("{} connected in {seconds:.1} s", plural(clients, "client")));
        }
    }

    fn warming(&mut self, elapsed: Duration, tps: f64) {
        let seconds = elapsed.as_secs_f64();
        let phase = if elapsed <= self.ramp { "ramp" } else { "warm-up" };
        self.talk.say(&format!("{seconds:7.1} s {:>9} tps  ({phase})", format_tps(tps)));
        self.sweep.show(self.talk);
    }

    fn window(&mut self, start: SystemTime) {
        self.records.window(self.folder, start);
    }

    fn edge(&mut self, elapsed: Duration) {
        self.records.edge(self.folder, elapsed);
    }

    fn interval(&mut self, interval: &Interval<'_>) {
        let latency = interval.tally.latency();
        let open = interval.tally.open();
        let row = row(&self.place, interval, &latency, open.as_ref());
        if let Err(error) = self.folder.append_interval(&row) {
            self.write_error.get_or_insert_with(|| error.to_string());
        }
        self.records.interval(self.folder, interval, &latency, open.as_ref());
        if let Some(exporter) = &self.feeds.exporter {
            exporter.add(&self.place, interval, row.tps, &latency, open.as_ref());
        }
        if self.feeds.pgbench_progress {
            let progress = self.progress(&row, interval, &latency, open.as_ref());
            self.talk.say(&progress_line(&progress));
        } else {
            self.talk.interval(&row);
            self.records.news().iter().for_each(|event| self.talk.event(event));
        }
        self.sweep.show(self.talk);
    }

    fn transactions(&mut self, start: Instant, entries: &[Entry]) {
        self.records.transactions(start, entries);
    }

    fn lingering(&mut self, clients: u32, left: Duration) {
        let noun = if clients == 1 { "client is" } else { "clients are" };
        let left = format_duration(Duration::from_secs(left.as_secs().max(1)));
        self.talk.say(&format!(
            "the window is over, {clients} {noun} still busy: waiting up to {left} more, then \
             cancelling"
        ));
    }
}

impl Watch<'_, '_> {
    fn progress(
        &self,
        row: &IntervalRow,
        interval: &Interval<'_>,
        latency: &Histogram,
        open: Option<&OpenTally>,
    ) -> Progress {
        let of = open.map_or(latency, |open| &open.response).summary();
        Progress {
            end_s: row.start_s + row.length_s,
            tps: row.tps,
            mean_ms: of.mean,
            stddev_ms: of.stddev,
            failed: row.failed,
            lag_ms: open.map(|_| row.lag_mean_ms.unwrap_or(0.0)),
            skipped: (open.is_some() && self.limited).then_some(row.skipped),
            retried: self.retries.then(|| (interval.tally.retried(), row.retries)),
        }
    }
}

fn row(
    place: &Place,
    interval: &Interval<'_>,
    latency: &Histogram,
    open: Option<&OpenTally>,
) -> IntervalRow {
    let tally = interval.tally;
    let latency = latency.summary();
    let response = open.map(|open| open.response.summary()).unwrap_or_default();
    let lag = open.map(|open| open.lag.summary()).unwrap_or_default();
    let length_s = interval.length.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let tps = if length_s > 0.0 { tally.committed() as f64 / length_s } else { 0.0 };
    IntervalRow {
        arm: place.arm.clone(),
        round: place.round,
        workload: place.workload.clone(),
        clients: place.clients,
        interval: interval.index + 1,
        start_s: interval.start.as_secs_f64(),
        length_s,
        partial: interval.partial,
        transactions: tally.committed(),
        tps,
        failed: tally.failed(),
        retries: tally.retries(),
        skipped: tally.skipped,
        unfinished: interval.unfinished,
        latency_mean_ms: latency.mean,
        latency_p50_ms: latency.p50,
        latency_p95_ms: latency.p95,
        latency_p99_ms: latency.p99,
        latency_p99_9_ms: latency.p99_9,
        latency_max_ms: latency.max,
        response_mean_ms: response.mean,
        response_p50_ms: response.p50,
        response_p95_ms: response.p95,
        response_p99_ms: response.p99,
        response_p99_9_ms: response.p99_9,
        response_max_ms: response.max,
        lag_mean_ms: lag.mean,
        lag_max_ms: lag.max,
    }
}
