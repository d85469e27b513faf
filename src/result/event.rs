//! One line of `events.jsonl`: something that happened beside the transactions of a run.

use serde::{Deserialize, Serialize};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Name of the arm.
    pub arm: String,
    /// Round, from 1.
    pub round: u32,
    /// Name of the workload.
    pub workload: String,
    /// Clients of the run.
    pub clients: u32,
    /// What it was: `checkpoint`, `autovacuum`, `log_switch`, `restart`, `reconnect`, `error`.
    pub kind: String,
    /// What it was about: a table, the code of an error.
    pub subject: Option<String>,
    /// Its start, in seconds after the start of the window; negative when it began before.
    pub start_s: f64,
    /// Its end; absent when it still went on at the end of the window.
    pub end_s: Option<f64>,
    /// Its start as time of day, UTC.
    pub time: String,
    /// How often it happened in that time.
    pub count: u64,
    /// More about it.
    pub text: Option<String>,
}
