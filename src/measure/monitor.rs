//! Counters of machine and server over one run: a row of `host.csv` and of `server.csv` at every
//! edge of an interval, and what they grew by over the window.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::observe::Place;
use crate::engine::monitor::Reading;
use crate::host::{HostMonitor, HostSample};
use crate::report::samples::{SampleFile, SampleRow};
use crate::report::{FolderError, ResultFolder};
use crate::result::counters::{HOST, HostCounters, SERVER, ServerCounters, Values, growth, named};
use crate::runner::happenings::{Found, Tracker};
use crate::runner::monitor::{Edge, Sampled};

const HOST_FILE: SampleFile = SampleFile { name: "host.csv", columns: HOST, text: None };
const SERVER_FILE: SampleFile =
    SampleFile { name: "server.csv", columns: SERVER, text: Some("waits") };

/// The row of a sample, but for what was sampled.
fn row<'a>(place: &'a Place, interval: u32, at_s: f64, values: &'a Values) -> SampleRow<'a> {
    SampleRow {
        arm: &place.arm,
        round: place.round,
        workload: &place.workload,
        clients: place.clients,
        interval,
        at_s,
        values,
        before: None,
        text: "",
    }
}

/// The machine during one run.
#[derive(Debug)]
pub(super) struct HostWatch<'a> {
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
            before: before.as_ref().map(|(values, at)| (values, at.as_secs_f64())),
            ..row(place, self.samples, elapsed.as_secs_f64(), &values)
        };
        self.samples += 1;
        self.first.get_or_insert((sample, elapsed));
        self.last = Some((sample, elapsed));
        HOST_FILE.append(folder, &row)
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

/// The server during one run: asks at every edge, takes answers as they come.
#[derive(Debug)]
pub(super) struct ServerWatch {
    /// Absent after the last edge.
    edges: Option<UnboundedSender<Edge>>,
    readings: UnboundedReceiver<Sampled>,
    asked: u32,
    /// Start of the window, by both clocks.
    began: Option<(Instant, SystemTime)>,
    last: Option<(Values, f64)>,
    /// What the counters grew by, from sample to sample: a restart costs one stretch, not all.
    grown: Values,
    waits: BTreeMap<String, f64>,
    samples: u32,
    tracker: Tracker,
    /// Why the server told nothing.
    pub(super) refusal: Option<String>,
}

impl ServerWatch {
    /// The watch and the other ends of its channels.
    pub(super) fn new() -> (Self, UnboundedReceiver<Edge>, UnboundedSender<Sampled>) {
        let (edges, asked_edges) = unbounded_channel();
        let (answers, readings) = unbounded_channel();
        let watch = Self {
            edges: Some(edges),
            readings,
            asked: 0,
            began: None,
            last: None,
            grown: vec![None; SERVER.len()],
            waits: BTreeMap::new(),
            samples: 0,
            tracker: Tracker::default(),
            refusal: None,
        };
        (watch, asked_edges, answers)
    }

    /// The window began at `start`.
    pub(super) fn window(&mut self, start: SystemTime) {
        let passed = SystemTime::now().duration_since(start).unwrap_or_default();
        let now = Instant::now();
        self.began = Some((now.checked_sub(passed).unwrap_or(now), start));
    }

    /// Asks for a reading.
    pub(super) fn edge(&mut self) {
        if let Some(edges) = &self.edges {
            let _nobody_reads = edges.send(Edge { number: self.asked });
        }
        self.asked += 1;
    }

    /// No further edge will come.
    pub(super) fn last_edge(&mut self) {
        self.edges = None;
    }

    /// Writes the rows of the answers that have come, and returns what happened.
    pub(super) fn take(
        &mut self,
        folder: &mut ResultFolder,
        place: &Place,
    ) -> Result<Vec<Found>, FolderError> {
        let (mut found, mut written) = (Vec::new(), Ok(()));
        while let Ok(sampled) = self.readings.try_recv() {
            let Some((began, start)) = self.began else { continue };
            let reading = match &sampled.reading {
                Ok(reading) => reading,
                Err(error) => {
                    self.refusal.get_or_insert_with(|| error.to_string());
                    continue;
                }
            };
            let at_s = sampled.asked.saturating_duration_since(began).as_secs_f64();
            found.extend(self.tracker.take(
                reading,
                at_s,
                origin_s(&sampled, reading, began, start),
            ));
            if let Err(error) = self.add(folder, place, sampled.edge.number, at_s, reading) {
                written = Err(error);
            }
        }
        written.map(|()| found)
    }

    fn add(
        &mut self,
        folder: &mut ResultFolder,
        place: &Place,
        interval: u32,
        at_s: f64,
        reading: &Reading,
    ) -> Result<(), FolderError> {
        if reading.figures.is_empty() {
            return Ok(());
        }
        let values: Values =
            SERVER.iter().map(|column| reading.figures.get(column.name).copied()).collect();
        let waits: Vec<String> =
            reading.waits.iter().map(|(event, count)| format!("{event}={count:.0}")).collect();
        let before = self.last.take();
        if let Some((before, _)) = &before {
            for (sum, grown) in self.grown.iter_mut().zip(growth(SERVER, before, &values)) {
                *sum = grown.map(|grown| sum.unwrap_or(0.0) + grown).or(*sum);
            }
        }
        for (event, count) in &reading.waits {
            *self.waits.entry(event.clone()).or_default() += count;
        }
        self.samples += 1;
        let row = SampleRow {
            before: before.as_ref().map(|(values, at_s)| (values, *at_s)),
            text: &waits.join(" "),
            ..row(place, interval, at_s, &values)
        };
        let written = SERVER_FILE.append(folder, &row);
        self.last = Some((values, at_s));
        written
    }

    /// What went on when the window ended.
    pub(super) fn going_on(&mut self) -> Vec<Found> {
        self.tracker.going_on()
    }

    /// What the counters grew by over the window, in which `transactions` committed.
    pub(super) fn counters(&self, transactions: u64) -> Option<ServerCounters> {
        let samples = f64::from(self.samples);
        let waits = self.waits.iter().map(|(event, sum)| (event.clone(), sum / samples)).collect();
        let total = named(SERVER, &self.grown);
        (self.samples > 0).then(|| ServerCounters::of(total, waits, transactions))
    }
}

/// Start of the window by the server's clock, where it has told it, in seconds since the epoch.
fn origin_s(sampled: &Sampled, reading: &Reading, began: Instant, start: SystemTime) -> f64 {
    let ours_s = start.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let Some(clock_s) = reading.clock_s else { return ours_s };
    let since = |instant: Instant| instant.saturating_duration_since(began).as_secs_f64();
    clock_s - f64::midpoint(since(sampled.asked), since(sampled.answered))
}
