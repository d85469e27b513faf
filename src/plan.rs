//! The plan of a run: every choice made, every default filled in. Pure data, stored with the
//! results as `plan.toml`; its hash says whether two results were measured in the same way.

pub mod study;

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::units::{BareUnit, format_duration, parse_duration};

/// Measured when neither a duration nor a number of transactions is given.
pub const DEFAULT_DURATION: Duration = Duration::from_secs(60);

/// The longest warm-up that is a default.
const LONGEST_DEFAULT_WARMUP: Duration = Duration::from_secs(10);

/// Warm-up of a window when none is asked for: a sixth of it, in whole milliseconds.
pub fn default_warmup(duration: Duration) -> Duration {
    let sixth_ms = u64::try_from(duration.as_millis() / 6).unwrap_or(u64::MAX);
    Duration::from_millis(sixth_ms).min(LONGEST_DEFAULT_WARMUP)
}

/// How statements travel to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Variables substituted into the text; the server parses and plans each time.
    Simple,
    /// Text and parameters apart; the server parses and plans each time.
    Extended,
    /// Prepared once per connection, executed many times.
    Prepared,
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Simple => "simple",
            Self::Extended => "extended",
            Self::Prepared => "prepared",
        })
    }
}

/// How the arrivals of an open loop follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// Independent of each other: exponential gaps.
    Poisson,
    /// At equal distances.
    Constant,
}

/// What `dbload run` does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// Name of the workload, or of the list of workloads, in results.
    pub workload: String,
    /// Scale factor of the tables or `:scale` of the scripts; absent where neither plays a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u64>,
    /// Sysbench tables that are used; absent where they play no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<u32>,
    /// Rows of each, which are also the ids that are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_size: Option<u64>,
    /// Client counts, one level each, in the order of measuring.
    pub clients: Vec<u32>,
    /// Length of the window; absent when transactions are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
    /// Transactions of each client; absent when time is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
    /// Clients begin one after the other, evenly spread over so long before the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Span>,
    /// Time before the window.
    pub warmup: Span,
    /// Length of an interval.
    pub interval: Span,
    /// Open loop: arrivals per second; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Open loop: how arrivals follow each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Arrival>,
    /// Committed transactions over it are late; in an open loop, later arrivals are skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_limit: Option<Span>,
    /// Passes over all levels.
    pub rounds: u32,
    /// Threads that the clients of a network database are spread over.
    pub workers: u32,
    /// Each transaction is sent as one pipeline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pipeline: bool,
    /// Every transaction has a new connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub connect: bool,
    /// Clients share so many connections; absent where each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<u32>,
    /// SQL that runs once on every new connection of a client.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_sql: Vec<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// The seed is pgbench's: scripts draw what pgbench draws.
    pub pgbench_sequence: bool,
    /// The tables of a built-in workload are looked after. TPC-B-like: history is truncated and the
    /// tables are vacuumed before a level. Sysbench: tables that a test has used up are made anew,
    /// and in a list each test is followed by a vacuum and a checkpoint.
    pub maintain: bool,
    /// The machine's and the server's counters are read beside the run.
    pub monitor: bool,
    /// How long a transaction may run on after the window.
    pub grace: Span,
    /// Tries of a transaction that meets a serialization failure or the like; 0 is no limit.
    pub max_tries: u32,
    /// Any error is counted, and the client goes on.
    pub continue_on_error: bool,
    /// Codes of errors after which a client goes on.
    pub ignore_errors: Vec<String>,
    /// The first lost client ends the run.
    pub exit_on_abort: bool,
    /// Lost connections are made again.
    pub reconnect: bool,
    /// Variables set for the scripts.
    pub defines: Vec<(String, String)>,
    /// The workloads, one after the other.
    pub workloads: Vec<PlannedWorkload>,
    /// What is measured.
    pub targets: Vec<PlannedTarget>,
}

/// A workload of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedWorkload {
    /// Name of the workload in results.
    pub name: String,
    /// How its statements travel.
    pub protocol: Protocol,
    /// Its scripts.
    pub scripts: Vec<PlannedScript>,
}

/// A script of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedScript {
    /// Name of the script.
    pub name: String,
    /// Its share in the mix, relative to the other weights.
    pub weight: u64,
    /// SHA-256 of its text, in hexadecimal.
    pub sha256: String,
}

/// A database of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTarget {
    /// Name of the arm.
    pub name: String,
    /// URL, with secrets removed.
    pub url: String,
}

impl RunPlan {
    /// The plan as the text of `plan.toml`.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Reads what `to_toml` wrote.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// SHA-256 of the plan's text, in hexadecimal.
    pub fn hash(&self) -> Result<String, toml::ser::Error> {
        let digest = Sha256::digest(self.to_toml()?.as_bytes());
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// A duration that is stored with its unit, as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        format_duration(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_duration(&text, BareUnit::Refused).map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan(seconds: Option<u64>, transactions: Option<u64>, clients: Vec<u32>) -> RunPlan {
        RunPlan {
            workload: "tpcb-like".to_owned(),
            scale: Some(10),
            tables: None,
            table_size: None,
            clients,
            duration: seconds.map(|seconds| Span(Duration::from_secs(seconds))),
            transactions,
            ramp: transactions.map(|_| Span(Duration::from_secs(3))),
            warmup: Span(Duration::from_millis(833)),
            interval: Span(Duration::from_millis(100)),
            rate_per_s: None,
            arrival: None,
            latency_limit: None,
            rounds: 2,
            workers: 1,
            pipeline: true,
            connect: true,
            pool: Some(2),
            session_sql: vec!["SET a = 'b'".to_owned()],
            seed: 7,
            pgbench_sequence: false,
            maintain: true,
            monitor: true,
            grace: Span(Duration::from_secs(5)),
            max_tries: 1,
            continue_on_error: false,
            ignore_errors: vec!["23505".to_owned()],
            exit_on_abort: false,
            reconnect: true,
            defines: vec![("a".to_owned(), "\"quoted\"".to_owned())],
            workloads: vec![PlannedWorkload {
                name: "tpcb-like".to_owned(),
                protocol: Protocol::Prepared,
                scripts: vec![PlannedScript {
                    name: "tpcb-like".to_owned(),
                    weight: 1,
                    sha256: "00".to_owned(),
                }],
            }],
            targets: vec![PlannedTarget { name: "pg".to_owned(), url: "postgres://h".to_owned() }],
        }
    }

    proptest! {
        #[test]
        fn a_plan_survives_its_file(
            seconds in proptest::option::of(1_u64..100_000),
            transactions in proptest::option::of(1_u64..1_000_000),
            clients in proptest::collection::vec(1_u32..1000, 1..8),
        ) {
            let plan = plan(seconds, transactions, clients);
            let read = RunPlan::from_toml(&plan.to_toml().unwrap()).unwrap();
            prop_assert_eq!(&read, &plan);
            prop_assert_eq!(read.hash().unwrap(), plan.hash().unwrap());
        }
    }

    #[test]
    fn another_plan_has_another_hash() {
        let first = plan(Some(5), None, vec![2]);
        let second = RunPlan { seed: 8, ..first.clone() };
        assert_ne!(first.hash().unwrap(), second.hash().unwrap());
    }
}
