//! Everything that is recorded of a run beside the rows of its intervals: histograms, counters of
//! machine and server, events.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::feeds::{LogKind, TransactionLog};
use super::monitor::{HostWatch, ServerWatch};
use super::observe::Place;
use crate::report::histograms::{RESPONSE, SERVICE, statement_tag};
use crate::report::{FolderError, HistogramLog, ResultFolder};
use crate::result::Event;
use crate::result::counters::{HostCounters, ServerCounters};
use crate::runner::happenings::Found;
use crate::runner::level::{Interval, Outcome};
use crate::runner::log::Entry;
use crate::runner::tally::OpenTally;
use crate::stats::histogram::Histogram;
use crate::workload::Workload;

const EVENTS: &str = "events.jsonl";

/// What is being recorded.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    place: Place,
    workload: &'a Workload,
    /// Tag of what clients took to come by their sessions.
    acquiring: &'static str,
    start: SystemTime,
    histograms: Option<HistogramLog>,
    /// Both absent with `--no-monitor`.
    host: Option<HostWatch<'a>>,
    server: Option<ServerWatch>,
    /// What kind of log of the transactions is wanted, and the log.
    log_kind: Option<LogKind>,
    log: Option<TransactionLog>,
    events: Vec<Event>,
    /// How many of them were told.
    told: usize,
    write_error: Option<String>,
}

/// What was recorded.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// Name of the histogram log in the results folder.
    pub(crate) hlog: Option<String>,
    /// The machine's counters over the window.
    pub(crate) host: Option<HostCounters>,
    /// The server's.
    pub(crate) server: Option<ServerCounters>,
    /// What happened, in the order of its end.
    pub(crate) events: Vec<Event>,
    /// Why the server told nothing.
    pub(crate) refusal: Option<String>,
    /// The first file that could not be written.
    pub(crate) write_error: Option<String>,
}

impl<'a> Records<'a> {
    /// Nothing is recorded before the window begins.
    pub(super) fn new(
        place: Place,
        workload: &'a Workload,
        acquiring: &'static str,
        host: Option<HostWatch<'a>>,
        server: Option<ServerWatch>,
        log_kind: Option<LogKind>,
    ) -> Self {
        Self {
            place,
            workload,
            acquiring,
            start: SystemTime::now(),
            histograms: None,
            host,
            server,
            log_kind,
            log: None,
            events: Vec::new(),
            told: 0,
            write_error: None,
        }
    }

    /// The window began at `start`.
    pub(super) fn window(&mut self, folder: &mut ResultFolder, start: SystemTime) {
        self.start = start;
        let Place { arm, round, workload, clients } = &self.place;
        match HistogramLog::create(folder, arm, *round, *clients, workload, start) {
            Ok(log) => self.histograms = Some(log),
            Err(error) => self.note(Err(error)),
        }
        if let (Some(kind), Some(histograms)) = (self.log_kind, &self.histograms) {
            let name = format!("{}.log", histograms.stem());
            match TransactionLog::create(folder, &name, kind, &self.place, start) {
                Ok(log) => self.log = Some(log),
                Err(error) => self.note(Err(error)),
            }
        }
        if let Some(server) = &mut self.server {
            server.window(start);
        }
    }

    /// Transactions have ended; the window began at `start`.
    pub(super) fn transactions(&mut self, start: Instant, entries: &[Entry]) {
        if let Some(log) = &mut self.log {
            let written = log.add(start, entries);
            self.note(written);
        }
    }

    /// An edge of the window's intervals has passed.
    pub(super) fn edge(&mut self, folder: &mut ResultFolder, elapsed: Duration) {
        if let Some(host) = &mut self.host {
            let written = host.edge(folder, &self.place, elapsed);
            self.note(written);
        }
        if let Some(server) = &mut self.server {
            server.edge();
        }
        self.take_readings(folder);
    }

    /// An interval is complete.
    pub(super) fn interval(
        &mut self,
        folder: &mut ResultFolder,
        interval: &Interval<'_>,
        latency: &Histogram,
        open: Option<&OpenTally>,
    ) {
        if let Some(log) = &mut self.histograms {
            let written = append(log, self.workload, self.acquiring, interval, latency, open);
            self.note(written);
        }
        let (start_s, length_s) = (interval.start.as_secs_f64(), interval.length.as_secs_f64());
        let mut add = |kind: &str, subject: Option<String>, count, text| {
            let (kind, end_s) = (kind.to_owned(), Some(start_s + length_s));
            let found = Found { kind, subject, start_s, end_s, count };
            self.add(folder, found, text);
        };
        for failure in interval.tally.failures().into_iter().filter(|failure| failure.count > 0) {
            let text = failure.samples.into_iter().next();
            add("error", Some(failure.code), failure.count, text);
        }
        if interval.reconnects > 0 {
            add("reconnect", None, interval.reconnects, None);
        }
    }

    /// No further edge will come: the monitor may end.
    pub(super) fn last_edge(&mut self) {
        if let Some(server) = &mut self.server {
            server.last_edge();
        }
    }

    /// The run is over.
    pub(super) fn finish(mut self, folder: &mut ResultFolder, outcome: &Outcome) -> Recorded {
        self.take_readings(folder);
        if let Some(mut log) = self.log.take() {
            let written = log.finish(self.start + outcome.measured);
            self.note(written);
        }
        let going_on = self.server.as_mut().map(ServerWatch::going_on).unwrap_or_default();
        let outages = outcome.outages.iter().map(|outage| Found {
            kind: "outage".to_owned(),
            subject: None,
            start_s: outage.start.as_secs_f64(),
            end_s: Some((outage.start + outage.length).as_secs_f64()),
            count: outage.clients.into(),
        });
        for found in going_on.into_iter().chain(outages) {
            self.add(folder, found, None);
        }
        if let Some(log) = self.histograms.take() {
            let written = log.write_table(folder, "service", &outcome.total.latency());
            self.note(written);
            if let Some(open) = outcome.total.open() {
                let written = log.write_table(folder, "response", &open.response);
                self.note(written);
            }
            self.histograms = Some(log);
        }
        let transactions = outcome.total.committed();
        Recorded {
            hlog: self.histograms.as_ref().map(HistogramLog::name),
            host: self.host.as_ref().and_then(|host| host.counters(transactions)),
            server: self.server.as_ref().and_then(|server| server.counters(transactions)),
            events: self.events,
            refusal: self.server.and_then(|server| server.refusal),
            write_error: self.write_error,
        }
    }

    /// What has become known since the last time this was asked.
    pub(super) fn news(&mut self) -> &[Event] {
        let from = std::mem::replace(&mut self.told, self.events.len());
        &self.events[from..]
    }

    fn take_readings(&mut self, folder: &mut ResultFolder) {
        let Some(server) = &mut self.server else { return };
        match server.take(folder, &self.place) {
            Ok(found) => found.into_iter().for_each(|found| self.add(folder, found, None)),
            Err(error) => self.note(Err(error)),
        }
    }

    fn add(&mut self, folder: &mut ResultFolder, found: Found, text: Option<String>) {
        let event = event(&self.place, self.start, found, text);
        let written = serde_json::to_string(&event)
            .map_err(|error| FolderError::Write { path: EVENTS.into(), source: error.into() })
            .and_then(|line| folder.append_line(EVENTS, String::new, &line));
        self.note(written);
        self.events.push(event);
    }

    fn note(&mut self, written: Result<(), FolderError>) {
        if let Err(error) = written {
            self.write_error.get_or_insert_with(|| error.to_string());
        }
    }
}

fn event(place: &Place, start: SystemTime, found: Found, text: Option<String>) -> Event {
    let millisecond = |seconds: f64| (seconds * 1e3).round() / 1e3;
    let offset = Duration::from_secs_f64(found.start_s.abs());
    let at = if found.start_s < 0.0 { start - offset } else { start + offset };
    let time = jiff::Timestamp::try_from(at).unwrap_or_default();
    Event {
        arm: place.arm.clone(),
        round: place.round,
        workload: place.workload.clone(),
        clients: place.clients,
        kind: found.kind,
        subject: found.subject,
        start_s: millisecond(found.start_s),
        end_s: found.end_s.map(millisecond),
        time: time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        count: found.count,
        text,
    }
}

/// Adds the interval to the log of histograms: transactions always, statements that were executed.
fn append(
    log: &mut HistogramLog,
    workload: &Workload,
    acquiring: &str,
    interval: &Interval<'_>,
    latency: &Histogram,
    open: Option<&OpenTally>,
) -> Result<(), FolderError> {
    let statements = workload.written().zip(1..);
    let statements: Vec<(String, &Histogram)> = statements
        .filter_map(|((index, _), number)| {
            let statement = &interval.tally.statements()[index];
            let latency = statement.latency.as_deref().filter(|latency| !latency.is_empty())?;
            Some((statement_tag(number), latency))
        })
        .collect();
    let transactions = [
        (SERVICE, Some(latency)),
        (RESPONSE, open.map(|open| &open.response)),
        (acquiring, interval.tally.acquiring()),
    ];
    let transactions = transactions.into_iter().filter_map(|(tag, latency)| Some((tag, latency?)));
    let statements = statements.iter().map(|(tag, latency)| (tag.as_str(), *latency));
    log.append(interval.start, interval.length, transactions.chain(statements))
}
