//! Every measured transaction, one by one, for pgbench's log: kept by workers only when asked for.
//!
//! The conductor takes the entries at least once a second and hands them on in the order of their
//! ends, so that memory stays bounded whatever the interval.

use std::time::Duration;

use tokio::time::Instant;

use super::ClientId;
use super::recorder::{Outcome, Recorder, Sample};
use crate::engine::ErrorKind;

/// The entries are handed on at least so often.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It committed.
    Committed,
    /// It was given up as too late, before it started.
    Skipped,
    /// It failed for good, with an error of this kind.
    Failed(ErrorKind),
}

/// A measured transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) client: ClientId,
    /// Index of its script in the workload.
    pub(crate) script: usize,
    pub(crate) fate: Fate,
    pub(crate) end: Instant,
    /// Intended start to end.
    pub(crate) response: Duration,
    /// Intended start to start.
    pub(crate) lag: Duration,
    /// Tries beyond the first.
    pub(crate) retries: usize,
}

impl Entry {
    /// A transaction that ended at `end`.
    pub(super) fn of(sample: &Sample<'_>, end: Instant) -> Self {
        Self {
            client: sample.client,
            script: sample.script,
            fate: match sample.outcome {
                Outcome::Committed => Fate::Committed,
                Outcome::Failed { error, .. } => Fate::Failed(error.kind()),
            },
            end,
            response: end - sample.intended,
            lag: sample.start - sample.intended,
            retries: sample.retried_at.len(),
        }
    }

    /// An arrival that was given up at `now`. Its script was not chosen yet.
    pub(super) fn skipped(client: ClientId, intended: Instant, now: Instant) -> Self {
        let late = now - intended;
        let (fate, script) = (Fate::Skipped, 0);
        Self { client, script, fate, end: now, response: late, lag: late, retries: 0 }
    }
}

/// Entries of all workers on their way to the observer.
#[derive(Debug, Default)]
pub(super) struct Merged {
    entries: Vec<Entry>,
}

impl Merged {
    /// Takes what the workers hold and hands on, in the order of their ends, what ended before
    /// this moment: an earlier end cannot turn up any more.
    pub(super) fn hand_on<'r>(
        &mut self,
        recorders: impl Iterator<Item = &'r Recorder>,
        mut take: impl FnMut(&[Entry]),
    ) {
        let now = Instant::now();
        for recorder in recorders {
            recorder.take_log(&mut self.entries);
        }
        self.entries.sort_by_key(|entry| entry.end);
        let known = self.entries.partition_point(|entry| entry.end < now);
        if known > 0 {
            take(&self.entries[..known]);
            self.entries.drain(..known);
        }
    }

    /// Hands on what is left.
    pub(super) fn finish<'r>(
        &mut self,
        recorders: impl Iterator<Item = &'r Recorder>,
        mut take: impl FnMut(&[Entry]),
    ) {
        for recorder in recorders {
            recorder.take_log(&mut self.entries);
        }
        self.entries.sort_by_key(|entry| entry.end);
        take(&self.entries);
        self.entries.clear();
    }
}
