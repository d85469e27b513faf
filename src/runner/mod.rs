//! Measures: workers, clients, the common window, and what they counted.
//!
//! `level::measure` runs one client level from connecting to the last client's end. It knows
//! neither files nor text: finished intervals go to an `Observer`, the rest into an `Outcome`.

mod alarm;
pub(crate) mod arrivals;
pub(crate) mod bench;
mod client;
mod clock;
mod connecting;
pub(crate) mod crew;
pub(crate) mod happenings;
mod interpreter;
pub(crate) mod level;
pub(crate) mod limits;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod monitor;
pub(crate) mod outages;
pub(crate) mod recorder;
pub(crate) mod seeds;
mod shell;
pub(crate) mod tally;
mod worker;

#[cfg(test)]
mod allocation;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arrivals::{Arrivals, Rate};

use crate::engine::DbError;
use crate::plan::Protocol;
use crate::workload::Workload;

/// Number of a client within a level, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientId(pub(crate) u32);

/// How long a level runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// So long after the warm-up.
    Duration(Duration),
    /// So many transactions of each client, without a warm-up.
    Transactions(u64),
}

impl Length {
    /// Transactions of each client, where they are counted.
    pub(crate) fn transactions(self) -> Option<u64> {
        match self {
            Self::Duration(_) => None,
            Self::Transactions(count) => Some(count),
        }
    }
}

/// How long a client keeps its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// As long as the connection lasts.
    Kept,
    /// For one transaction, which begins with connecting.
    PerTransaction,
    /// For one transaction, which begins with waiting for one of so many connections.
    Pooled(u32),
}

/// Everything that decides how a level is run.
#[derive(Debug, Clone)]
pub(crate) struct LevelSettings {
    pub(crate) clients: u32,
    pub(crate) workers: u32,
    pub(crate) length: Length,
    /// Clients begin one after the other, evenly spread over so long before the warm-up.
    pub(crate) ramp: Duration,
    pub(crate) warmup: Duration,
    pub(crate) interval: Duration,
    /// How long a transaction may run on after the window before it is cancelled.
    pub(crate) grace: Duration,
    pub(crate) protocol: Protocol,
    /// Each script of the workload is one pipeline.
    pub(crate) pipeline: bool,
    pub(crate) sessions: Sessions,
    /// Runs on every new connection of a client.
    pub(crate) session_sql: Vec<String>,
    pub(crate) seeds: seeds::Seeds,
    /// Value of `:scale`.
    pub(crate) scale: i64,
    /// Open loop: arrivals per second.
    pub(crate) rate: Option<Rate>,
    /// Committed transactions over it are late; in an open loop, arrivals later than it are
    /// skipped.
    pub(crate) latency_limit: Option<Duration>,
    /// Tries of a transaction that meets a serialization failure or the like; 0 is no limit.
    pub(crate) max_tries: u32,
    /// Codes or kinds of errors after which a client goes on.
    pub(crate) ignore_errors: Vec<String>,
    /// Any error is counted and the client goes on.
    pub(crate) continue_on_error: bool,
    /// A lost connection is made again.
    pub(crate) reconnect: bool,
    /// The first lost client ends the level.
    pub(crate) exit_on_abort: bool,
    /// The observer hears of every transaction.
    pub(crate) log: bool,
    /// Takes a line for every error of a transaction, those that are tried again included.
    pub(crate) on_error: Option<fn(&str)>,
    /// Takes what `debug(...)` in a script prints.
    pub(crate) debug: fn(crate::script::expr::DebugLine),
}

impl LevelSettings {
    /// How long after the common start a client begins.
    pub(crate) fn joins_after(&self, client: ClientId) -> Duration {
        self.ramp.mul_f64(f64::from(client.0) / f64::from(self.clients))
    }

    /// Whether a client goes on after `error`: its code or its kind is in the list.
    pub(crate) fn ignores(&self, error: &DbError) -> bool {
        let (code, kind) = (error.code(), error.kind().name());
        self.ignore_errors.iter().any(|ignored| ignored == code || ignored == kind)
    }
}

/// What one level runs.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) workload: Arc<Workload>,
    pub(crate) settings: LevelSettings,
    /// The schedule of an open loop, from the common start on.
    arrivals: OnceLock<Arrivals>,
}

impl Level {
    /// A level that is about to be measured.
    pub(crate) fn new(workload: Arc<Workload>, settings: LevelSettings) -> Self {
        Self { workload, settings, arrivals: OnceLock::new() }
    }
}

/// Why a client ended before its time.
#[derive(Debug)]
pub(crate) enum LossReason {
    /// A statement or a meta command failed.
    Script {
        /// Name of the script.
        script: String,
        /// What it met.
        error: DbError,
    },
    /// The connection failed for good.
    Error(DbError),
    /// It did not end within the grace period and was dropped.
    Abandoned,
    /// A defect of dbload's.
    Panic,
}

impl std::fmt::Display for LossReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Script { script, error } => write!(f, "{error} (script {script})"),
            Self::Error(error) => error.fmt(f),
            Self::Abandoned => f.write_str("still busy after the grace period, abandoned"),
            Self::Panic => f.write_str("ended by a defect in dbload (panic)"),
        }
    }
}
