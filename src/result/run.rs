//! One entry of `runs[]` in `summary.json`: one arm, one round, one workload, one client count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::counters::{HostCounters, ServerCounters};
use super::interval::IntervalRow;
use super::variance::Variance;
use crate::plan::Protocol;
use crate::stats::histogram::LatencySummary;

/// One measured run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Name of the arm.
    pub arm: String,
    /// Round, from 1.
    pub round: u32,
    /// Name of the workload.
    pub workload: String,
    /// Scale factor of the tables; unknown for a user's own script without one.
    pub scale: Option<u64>,
    /// Sysbench tables that were used; absent for other schemas.
    pub tables: Option<u32>,
    /// Rows of each of them.
    pub table_size: Option<u64>,
    /// Clients: database sessions that execute transactions.
    pub clients: u32,
    /// Threads that the clients were spread over.
    pub workers: u32,
    /// What each of them did; empty with one, and for SQLite, where every client has its own.
    #[serde(default)]
    pub worker_shares: Vec<WorkerShare>,
    /// How statements travelled.
    pub protocol: Protocol,
    /// Each transaction was sent as one pipeline: one round trip.
    #[serde(default)]
    pub pipeline: bool,
    /// SQL that every connection of a client began with.
    #[serde(default)]
    pub session_sql: Vec<String>,
    /// Transactions per second asked for; absent in a closed loop.
    pub rate_per_s: Option<f64>,
    /// Time before the warm-up over which clients began, evenly spread; absent where all of them
    /// began at once.
    #[serde(default)]
    pub ramp_s: Option<f64>,
    /// Length of the measured window.
    pub duration_s: f64,
    /// Length that was asked for; absent when a number of transactions was.
    pub asked_s: Option<f64>,
    /// Transactions per client that were asked for; absent when a length was.
    pub asked_transactions: Option<u64>,
    /// Committed transactions.
    pub transactions: u64,
    /// `transactions / duration_s`.
    pub tps: f64,
    /// 95 % confidence interval of `tps` within this run: low, high.
    pub ci_tps: Option<[f64; 2]>,
    /// Effective sample size: how many independent intervals the run is worth.
    pub ess: Option<f64>,
    /// The histograms of its intervals: a path in the results folder.
    pub hlog: Option<String>,
    /// Service time of committed transactions: start of the first try to the end.
    pub latency_ms: LatencyMs,
    /// Response time: intended start to the end. Only with a rate.
    pub response_ms: Option<LatencyMs>,
    /// Lag: intended start to the start. Only with a rate.
    pub lag_ms: Option<LatencyMs>,
    /// What connecting took: of committed transactions, and part of their latency. Only where every
    /// transaction has a new connection.
    #[serde(default)]
    pub connect_ms: Option<LatencyMs>,
    /// Connections that all clients shared; absent where each had its own.
    #[serde(default)]
    pub pool: Option<u32>,
    /// Waiting for a connection of the pool: of committed transactions, and part of their latency.
    #[serde(default)]
    pub pool_wait_ms: Option<LatencyMs>,
    /// How late a client that waited for an arrival woke up: dbload's own error. Only with a rate.
    pub schedule_error_ms: Option<LatencyMs>,
    /// Transactions that ended in an error.
    pub failed: Failed,
    /// Transactions that were tried more than once.
    pub retried: u64,
    /// Tries beyond the first, over all transactions.
    pub retries: u64,
    /// Clients that ended before their time.
    pub clients_lost: u32,
    /// Arrivals that were given up as too late (`--rate` with `--latency-limit`).
    pub skipped: u64,
    /// Committed transactions over the latency limit; absent without one.
    pub late: Option<u64>,
    /// Transactions still running at the end of the window: in no other figure.
    pub unfinished: u64,
    /// Arrivals that no client had taken up at the end; absent in a closed loop.
    pub queued_at_end: Option<u64>,
    /// Times in which clients were without a connection.
    pub outages: Vec<Outage>,
    /// Statements per second by what they do.
    pub statements_per_s: Option<StatementRates>,
    /// Figures of each script; one entry also when there is only one.
    pub scripts: Vec<Script>,
    /// Figures of each statement.
    pub statements: Vec<Statement>,
    /// How steady the throughput was.
    pub variance: Variance,
    /// The machine's own counters.
    pub host: Option<HostCounters>,
    /// The server's own counters.
    pub server: Option<ServerCounters>,
    /// CPU time of dbload itself (user + system) per committed transaction.
    pub client_cpu_us_per_txn: Option<f64>,
    /// Warnings about this run.
    pub warnings: Vec<String>,
    /// The run was measured to its planned end.
    pub complete: bool,
    /// Fields that hold nothing, since another tool measured and its output does not tell them;
    /// empty for what dbload measured. Never in a file.
    #[serde(skip)]
    pub unknown: Vec<&'static str>,
}

/// A worker's part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorkerShare {
    /// Transactions that its clients committed.
    pub transactions: u64,
    /// Share of the time that its thread was on a CPU, 0 to 1; unknown in a window shorter than an
    /// interval.
    pub busy: Option<f64>,
}

/// What a bare rate does not tell.
const UNKNOWN_OF_A_RATE: [&str; 11] = [
    "workers",
    "protocol",
    "session_sql",
    "connect_ms",
    "rate_per_s",
    "duration_s",
    "transactions",
    "failed",
    "retries",
    "variance",
    "scripts",
];

impl Run {
    /// A run of which only the throughput is known.
    pub fn of_rate(arm: &str, round: u32, clients: u32, tps: f64) -> Self {
        Self {
            arm: arm.to_owned(),
            round,
            workload: String::new(),
            scale: None,
            tables: None,
            table_size: None,
            clients,
            workers: 0,
            worker_shares: Vec::new(),
            protocol: Protocol::Simple,
            pipeline: false,
            session_sql: Vec::new(),
            rate_per_s: None,
            ramp_s: None,
            duration_s: 0.0,
            asked_s: None,
            asked_transactions: None,
            transactions: 0,
            tps,
            ci_tps: None,
            ess: None,
            hlog: None,
            latency_ms: LatencyMs::default(),
            response_ms: None,
            lag_ms: None,
            connect_ms: None,
            pool: None,
            pool_wait_ms: None,
            schedule_error_ms: None,
            failed: Failed::default(),
            retried: 0,
            retries: 0,
            clients_lost: 0,
            skipped: 0,
            late: None,
            unfinished: 0,
            queued_at_end: None,
            outages: Vec::new(),
            statements_per_s: None,
            scripts: Vec::new(),
            statements: Vec::new(),
            variance: Variance::default(),
            host: None,
            server: None,
            client_cpu_us_per_txn: None,
            warnings: Vec::new(),
            complete: true,
            unknown: UNKNOWN_OF_A_RATE.to_vec(),
        }
    }

    /// Whether a field holds what was measured.
    pub fn knows(&self, field: &str) -> bool {
        !self.unknown.contains(&field)
    }

    /// Whether `row` is an interval of this run.
    pub fn owns(&self, row: &IntervalRow) -> bool {
        self.arm == row.arm
            && self.round == row.round
            && self.workload == row.workload
            && self.clients == row.clients
    }
}

/// A latency distribution, in milliseconds. Every figure is absent when nothing was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyMs {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub stddev: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p99_9: Option<f64>,
    /// 99.99th percentile.
    pub p99_99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

impl From<LatencySummary> for LatencyMs {
    /// Keeps whole nanoseconds: what lies beyond is rounding of the division.
    fn from(figures: LatencySummary) -> Self {
        let whole_ns = |ms: Option<f64>| ms.map(|ms| (ms * 1e6).round() / 1e6);
        Self {
            mean: whole_ns(figures.mean),
            stddev: whole_ns(figures.stddev),
            min: whole_ns(figures.min),
            p50: whole_ns(figures.p50),
            p90: whole_ns(figures.p90),
            p95: whole_ns(figures.p95),
            p99: whole_ns(figures.p99),
            p99_9: whole_ns(figures.p99_9),
            p99_99: whole_ns(figures.p99_99),
            max: whole_ns(figures.max),
        }
    }
}

/// Transactions that ended in an error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// All of them.
    pub total: u64,
    /// The same by the engine's error code.
    pub by_code: BTreeMap<String, u64>,
    /// The first distinct messages, at most ten.
    pub samples: Vec<FailureSample>,
}

/// One error message as the server gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureSample {
    /// The engine's error code.
    pub code: String,
    /// The message.
    pub text: String,
}

/// A time in which at least one client was without a connection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// Seconds after the start of the window.
    pub start_s: f64,
    /// How long it lasted.
    pub length_s: f64,
    /// Clients that were without one at some time in it.
    pub clients: u32,
}

/// Executed statements per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementRates {
    /// Statements that only read.
    pub read: f64,
    /// Statements that write.
    pub write: f64,
    /// The rest: BEGIN, COMMIT and so on.
    pub other: f64,
    /// Sum of the three.
    pub total: f64,
}

/// Figures of one script of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// Name of the script.
    pub name: String,
    /// Its share in the mix, relative to the other weights.
    pub weight: u64,
    /// `embedded`, or the path that the text was read from.
    pub source: String,
    /// The text as it was run: a path in the results folder.
    pub file: String,
    /// SHA-256 of the text, in hexadecimal.
    pub sha256: String,
    /// Committed transactions of this script.
    pub transactions: u64,
    /// The same per second of the window.
    pub tps: f64,
    /// Failed transactions of this script.
    pub failed: u64,
    /// Transactions of this script that were tried more than once.
    #[serde(default)]
    pub retried: u64,
    /// Tries beyond the first.
    #[serde(default)]
    pub retries: u64,
    /// Service time of its committed transactions.
    pub latency_ms: LatencyMs,
}

/// Figures of one statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Name of the script it stands in.
    pub script: String,
    /// Its number in the script, from 1.
    pub n: u32,
    /// The statement as written.
    pub text: String,
    /// Executions in committed transactions.
    pub count: u64,
    /// Rows returned or changed by them.
    pub rows: u64,
    /// Transactions that failed for good at this statement.
    #[serde(default)]
    pub failed: u64,
    /// Tries that failed at this statement and were made again.
    #[serde(default)]
    pub retries: u64,
    /// Time from sending to the complete answer, of the counted executions.
    pub latency_ms: LatencyMs,
}
