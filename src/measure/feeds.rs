//! What other programs get of a run beside its results: pgbench's progress lines and logs, and
//! counters for Prometheus.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use super::exporter::Exporter;
use super::observe::Place;
use crate::engine::ErrorKind;
use crate::report::appended::AppendedFile;
use crate::report::pgbench::{Aggregate, Ended, LogStyle, Transaction, log_line};
use crate::report::{FolderError, ResultFolder};
use crate::runner::log::{Entry, Fate};

/// What is wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Feeds {
    /// Lines of intervals are pgbench's.
    pub(crate) pgbench_progress: bool,
    /// A log of transactions.
    pub(crate) log: Option<LogKind>,
    /// Counters are served.
    pub(crate) exporter: Option<Exporter>,
}

/// A log of transactions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogKind {
    pub(crate) style: LogStyle,
    /// One line for each stretch of so many seconds, in place of one for each transaction.
    pub(crate) aggregate_s: Option<u64>,
}

/// The log of one run.
#[derive(Debug)]
pub(super) struct TransactionLog {
    kind: LogKind,
    /// Start of the window, in microseconds since the epoch.
    start_us: u64,
    aggregate: Option<Aggregate>,
    /// Transactions of each client so far.
    numbers: Vec<u64>,
    file: AppendedFile,
}

impl TransactionLog {
    /// Starts `NAME` in the folder, for a window that began at `start`.
    pub(super) fn create(
        folder: &mut ResultFolder,
        name: &str,
        kind: LogKind,
        place: &Place,
        start: SystemTime,
    ) -> Result<Self, FolderError> {
        let since = start.duration_since(UNIX_EPOCH).unwrap_or_default();
        let aggregate = |length_s| Aggregate::new(length_s, kind.style, since.as_secs());
        Ok(Self {
            kind,
            start_us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
            aggregate: kind.aggregate_s.map(aggregate),
            numbers: vec![0; place.clients as usize],
            file: folder.append_to(name)?,
        })
    }

    /// Adds transactions, in the order of their ends; the window began at `start`.
    pub(super) fn add(&mut self, start: Instant, entries: &[Entry]) -> Result<(), FolderError> {
        let mut text = String::new();
        for entry in entries {
            let of = self.transaction(start, entry);
            match &mut self.aggregate {
                Some(aggregate) => aggregate.add(&mut text, &of),
                None => log_line(&mut text, self.kind.style, &of),
            }
        }
        self.file.append(text.as_bytes())
    }

    /// Adds what is left: stretches up to the end of the window, the last one as far as it goes.
    pub(super) fn finish(&mut self, end: SystemTime) -> Result<(), FolderError> {
        let Some(mut aggregate) = self.aggregate.take() else { return Ok(()) };
        let mut text = String::new();
        aggregate.advance(&mut text, end.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs());
        text.push_str(&aggregate.line());
        self.file.append(text.as_bytes())
    }

    fn transaction(&mut self, start: Instant, entry: &Entry) -> Transaction {
        let us = |duration: std::time::Duration| u64::try_from(duration.as_micros());
        let after_us = us(entry.end.saturating_duration_since(start)).unwrap_or(u64::MAX);
        let client = entry.client.0;
        let number = self.numbers.get_mut(client as usize).map_or(0, |number| {
            *number += 1;
            *number
        });
        Transaction {
            client,
            number,
            script: entry.script,
            ended: match entry.fate {
                Fate::Committed => Ended::Committed,
                Fate::Skipped => Ended::Skipped,
                Fate::Failed(ErrorKind::Serialization) => Ended::Serialization,
                Fate::Failed(ErrorKind::Deadlock) => Ended::Deadlock,
                Fate::Failed(_) => Ended::Other,
            },
            epoch_us: self.start_us.saturating_add(after_us),
            latency_us: us(entry.response).unwrap_or(u64::MAX),
            lag_us: us(entry.lag).unwrap_or(u64::MAX),
            retries: entry.retries as u64,
        }
    }
}
