//! Counters of the machine over one run: a row of `host.csv` at every edge of an interval, and
//! their growth over the window.

use std::time::Duration;

use super::observe::Place;
use crate::host::{HostMonitor, HostSample};
use crate::report::samples::{SampleFile, SampleRow};
use crate::report::{FolderError, ResultFolder};
use crate::result::counters::{HOST, HostCounters, growth, named};

const FILE: SampleFile = SampleFile { name: "host.csv", columns: HOST };

/// The machine during one run.
#[derive(Debug)]
pub(crate) struct HostWatch<'a> {
    monitor: &'a HostMonitor,
    /// The server runs on it, too.
    same_machine: bool,
    samples: u32,
    first: Option<(HostSample, Duration)>,
    last: Option<(HostSample, Duration)>,
}

impl<'a> HostWatch<'a> {
    /// Nothing is read yet.
    pub(super) fn new(monitor: &'a HostMonitor, same_machine: bool) -> Self {
        Self { monitor, same_machine, samples: 0, first: None, last: None }
    }

    /// Takes a sample `elapsed` after the start of the window.
    pub(super) fn edge(
        &mut self,
        folder: &mut ResultFolder,
        place: &Place,
        elapsed: Duration,
    ) -> Result<(), FolderError> {
        let sample = self.monitor.sample();
        let (values, before) = (sample.values(), self.last.map(|(last, at)| (last.values(), at)));
        let row = SampleRow {
            arm: &place.arm,
            round: place.round,
            workload: &place.workload,
            clients: place.clients,
            interval: self.samples,
            at_s: elapsed.as_secs_f64(),
            values: &values,
            before: before.as_ref().map(|(values, at)| (values, at.as_secs_f64())),
        };
        self.samples += 1;
        self.first.get_or_insert((sample, elapsed));
        self.last = Some((sample, elapsed));
        FILE.append(folder, &row)
    }

    /// What the counters grew by over the window, in which `transactions` committed.
    pub(super) fn counters(&self, transactions: u64) -> Option<HostCounters> {
        let ((first, from), (last, to)) = (self.first?, self.last?);
        let between = last.since(&first);
        Some(HostCounters {
            same_machine: self.same_machine,
            total: named(HOST, &growth(HOST, &first.values(), &last.values())),
            per_txn: between.per_transaction(transactions, self.same_machine),
            shares: between.shares(to.saturating_sub(from)),
        })
    }
}
