//! Counters and histograms of one stretch of time: a worker's interval, or a whole run.

use std::time::Duration;

use tokio::time::Instant;

use super::recorder::{Outcome, Sample};
use crate::engine::DbError;
use crate::stats::histogram::Histogram;

/// Distinct error texts that are kept; further ones are only counted by code.
const SAMPLES: usize = 10;

/// Counters and histograms.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    shape: Shape,
    scripts: Vec<ScriptTally>,
    statements: Vec<StatementTally>,
    /// What clients that do not keep their sessions took to come by one: of committed transactions.
    acquiring: Option<Box<Histogram>>,
    /// Arrivals given up as too late.
    pub(crate) skipped: u64,
    /// Whether anything was recorded since the last `clear`.
    touched: bool,
}

/// What a tally has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) scripts: usize,
    pub(crate) statements: usize,
    /// Clients do not keep their sessions.
    pub(crate) acquiring: bool,
    /// Response time and lag are recorded beside service time.
    pub(crate) open_loop: bool,
    /// Committed transactions over it are counted as late.
    pub(crate) latency_limit: Option<Duration>,
}

/// One script's transactions.
#[derive(Debug, Clone)]
pub(crate) struct ScriptTally {
    pub(crate) committed: u64,
    pub(crate) failed: u64,
    /// Transactions that were tried more than once.
    pub(crate) retried: u64,
    /// Tries beyond the first.
    pub(crate) retries: u64,
    /// Service time of the committed ones: start to end.
    pub(crate) latency: Histogram,
    /// Of the same, in an open loop: from the intended start.
    pub(crate) open: Option<Box<OpenTally>>,
    /// Committed ones over the latency limit.
    pub(crate) late: u64,
    /// Failures by error code, few.
    pub(crate) failures: Vec<Failure>,
}

/// What an open loop adds for a script's committed transactions.
#[derive(Debug, Clone)]
pub(crate) struct OpenTally {
    /// Intended start to end.
    pub(crate) response: Histogram,
    /// Intended start to start.
    pub(crate) lag: Histogram,
}

/// Failures of one code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The engine's code; the kind of failure where it has none.
    pub(crate) code: String,
    pub(crate) count: u64,
    /// The first distinct texts.
    pub(crate) samples: Vec<String>,
}

/// One statement's executions in committed transactions, and what failed at it.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatementTally {
    pub(crate) count: u64,
    pub(crate) rows: u64,
    /// Transactions that failed for good at it.
    pub(crate) failed: u64,
    /// Tries that failed at it and were made again.
    pub(crate) retries: u64,
    /// Made at the first execution, so that statements never run cost nothing.
    pub(crate) latency: Option<Box<Histogram>>,
}

impl Tally {
    /// An empty tally.
    pub(crate) fn new(shape: Shape) -> Self {
        let script = ScriptTally {
            committed: 0,
            failed: 0,
            retried: 0,
            retries: 0,
            latency: Histogram::transactions(),
            open: shape.open_loop.then(|| {
                let histogram = Histogram::transactions();
                Box::new(OpenTally { response: histogram.clone(), lag: histogram })
            }),
            late: 0,
            failures: Vec::new(),
        };
        Self {
            shape,
            scripts: vec![script; shape.scripts],
            statements: vec![StatementTally::default(); shape.statements],
            acquiring: shape.acquiring.then(|| Box::new(Histogram::transactions())),
            skipped: 0,
            touched: false,
        }
    }

    /// Another tally of the same shape, empty.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.shape)
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        !self.touched
    }

    /// Counts an arrival that was given up.
    pub(crate) fn skip(&mut self) {
        self.touched = true;
        self.skipped += 1;
    }

    /// Counts a transaction that ended at `end`.
    pub(crate) fn record(&mut self, sample: &Sample<'_>, end: Instant) {
        self.touched = true;
        let script = &mut self.scripts[sample.script];
        script.retried += u64::from(!sample.retried_at.is_empty());
        script.retries += sample.retried_at.len() as u64;
        for stmt in sample.retried_at.iter().flatten() {
            self.statements[stmt.0 as usize].retries += 1;
        }
        match sample.outcome {
            Outcome::Committed => {
                script.committed += 1;
                script.latency.record(nanoseconds(end - sample.start));
                if let (Some(histogram), Some(acquiring)) = (&mut self.acquiring, sample.acquiring)
                {
                    histogram.record(nanoseconds(acquiring));
                }
                let response = end - sample.intended;
                if let Some(open) = &mut script.open {
                    open.response.record(nanoseconds(response));
                    open.lag.record(nanoseconds(sample.start - sample.intended));
                }
                if self.shape.latency_limit.is_some_and(|limit| response > limit) {
                    script.late += 1;
                }
                for executed in sample.statements {
                    let statement = &mut self.statements[executed.stmt.0 as usize];
                    statement.count += 1;
                    statement.rows += executed.rows;
                    statement
                        .latency
                        .get_or_insert_with(|| Box::new(Histogram::statements()))
                        .record(executed.service_ns);
                }
            }
            Outcome::Failed { error, at } => {
                script.failed += 1;
                count_failure(&mut script.failures, error);
                if let Some(stmt) = at {
                    self.statements[stmt.0 as usize].failed += 1;
                }
            }
        }
    }

    /// Adds `other`, a tally of the same shape.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.touched |= other.touched;
        self.skipped += other.skipped;
        if let (Some(mine), Some(theirs)) = (&mut self.acquiring, &other.acquiring) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.scripts.iter_mut().zip(&other.scripts) {
            mine.committed += theirs.committed;
            mine.failed += theirs.failed;
            mine.retried += theirs.retried;
            mine.retries += theirs.retries;
            mine.latency.merge(&theirs.latency);
            mine.late += theirs.late;
            if let (Some(mine), Some(theirs)) = (&mut mine.open, &theirs.open) {
                mine.response.merge(&theirs.response);
                mine.lag.merge(&theirs.lag);
            }
            for failure in &theirs.failures {
                merge_failure(&mut mine.failures, failure);
            }
        }
        for (mine, theirs) in self.statements.iter_mut().zip(&other.statements) {
            mine.count += theirs.count;
            mine.rows += theirs.rows;
            mine.failed += theirs.failed;
            mine.retries += theirs.retries;
            if let Some(latency) = &theirs.latency {
                mine.latency
                    .get_or_insert_with(|| Box::new(Histogram::statements()))
                    .merge(latency);
            }
        }
    }

    /// Back to empty, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.touched = false;
        self.skipped = 0;
        if let Some(acquiring) = &mut self.acquiring {
            acquiring.clear();
        }
        for script in &mut self.scripts {
            script.committed = 0;
            script.failed = 0;
            script.retried = 0;
            script.retries = 0;
            script.latency.clear();
            script.late = 0;
            if let Some(open) = &mut script.open {
                open.response.clear();
                open.lag.clear();
            }
            script.failures.clear();
        }
        for statement in &mut self.statements {
            statement.count = 0;
            statement.rows = 0;
            statement.failed = 0;
            statement.retries = 0;
            if let Some(latency) = &mut statement.latency {
                latency.clear();
            }
        }
    }

    /// What clients that do not keep their sessions took to come by one.
    pub(crate) fn acquiring(&self) -> Option<&Histogram> {
        self.acquiring.as_deref()
    }

    /// The scripts, in the workload's order.
    pub(crate) fn scripts(&self) -> &[ScriptTally] {
        &self.scripts
    }

    /// The statements, in the workload's order.
    pub(crate) fn statements(&self) -> &[StatementTally] {
        &self.statements
    }

    /// Committed transactions of all scripts.
    pub(crate) fn committed(&self) -> u64 {
        self.scripts.iter().map(|script| script.committed).sum()
    }

    /// Failed transactions of all scripts.
    pub(crate) fn failed(&self) -> u64 {
        self.scripts.iter().map(|script| script.failed).sum()
    }

    /// Transactions of all scripts that were tried more than once.
    pub(crate) fn retried(&self) -> u64 {
        self.scripts.iter().map(|script| script.retried).sum()
    }

    /// Tries beyond the first, of all scripts.
    pub(crate) fn retries(&self) -> u64 {
        self.scripts.iter().map(|script| script.retries).sum()
    }

    /// Service time of the committed transactions of all scripts.
    pub(crate) fn latency(&self) -> Histogram {
        let mut all = Histogram::transactions();
        for script in &self.scripts {
            all.merge(&script.latency);
        }
        all
    }

    /// Response time and lag of the committed transactions of all scripts, in an open loop.
    pub(crate) fn open(&self) -> Option<OpenTally> {
        let mut all: Option<OpenTally> = None;
        for open in self.scripts.iter().filter_map(|script| script.open.as_deref()) {
            match &mut all {
                None => all = Some(open.clone()),
                Some(all) => {
                    all.response.merge(&open.response);
                    all.lag.merge(&open.lag);
                }
            }
        }
        all
    }

    /// Committed transactions of all scripts over the latency limit; nothing without one.
    pub(crate) fn late(&self) -> Option<u64> {
        self.shape.latency_limit.map(|_| self.scripts.iter().map(|script| script.late).sum())
    }

    /// Failures of all scripts by code.
    pub(crate) fn failures(&self) -> Vec<Failure> {
        let mut all = Vec::new();
        for failure in self.scripts.iter().flat_map(|script| &script.failures) {
            merge_failure(&mut all, failure);
        }
        all
    }
}

/// `Duration` as whole nanoseconds; 584 years fit.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn count_failure(failures: &mut Vec<Failure>, error: &DbError) {
    let code = match error.code() {
        "" => error.kind().name(),
        code => code,
    };
    let failure = match failures.iter_mut().position(|failure| failure.code == code) {
        Some(index) => &mut failures[index],
        None => {
            failures.push(Failure { code: code.to_owned(), count: 0, samples: Vec::new() });
            failures.last_mut().expect("just pushed")
        }
    };
    failure.count += 1;
    // Nothing is formatted once the samples are full: an error storm stays cheap.
    if failure.samples.len() < SAMPLES {
        add_sample(&mut failure.samples, error.text());
    }
}

fn add_sample(samples: &mut Vec<String>, text: &str) {
    if samples.len() < SAMPLES && !samples.iter().any(|known| known == text) {
        samples.push(text.to_owned());
    }
}

fn merge_failure(failures: &mut Vec<Failure>, other: &Failure) {
    match failures.iter_mut().find(|failure| failure.code == other.code) {
        Some(failure) => {
            failure.count += other.count;
            for sample in &other.samples {
                add_sample(&mut failure.samples, sample);
            }
        }
        None => failures.push(other.clone()),
    }
}
