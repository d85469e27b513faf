//! `intervals.csv`: one row per run and interval, warm-up left out.
//!
//! A row of a stalled interval is a row of 0, not a missing row; a cell is empty where a column
//! does not apply. The transactions of a run's rows add up to the transactions of the run.

use serde::{Deserialize, Serialize, Serializer};

/// The columns of `intervals.csv`, in order.
pub const HEADER: [&str; 28] = [
    "arm",
    "round",
    "workload",
    "clients",
    "interval",
    "start_s",
    "length_s",
    "partial",
    "transactions",
    "tps",
    "failed",
    "retries",
    "skipped",
    "unfinished",
    "latency_mean_ms",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "latency_p99_9_ms",
    "latency_max_ms",
    "response_mean_ms",
    "response_p50_ms",
    "response_p95_ms",
    "response_p99_ms",
    "response_p99_9_ms",
    "response_max_ms",
    "lag_mean_ms",
    "lag_max_ms",
];

/// One row. Flat, because the header of a CSV file is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IntervalRow {
    /// Name of the arm.
    pub arm: String,
    /// Round, from 1.
    pub round: u32,
    /// Name of the workload.
    pub workload: String,
    /// Clients of the run.
    pub clients: u32,
    /// Number of the interval in the run, from 1.
    pub interval: u32,
    /// Start of the interval, in seconds after the start of the window.
    #[serde(serialize_with = "six_decimals")]
    pub start_s: f64,
    /// Length of the interval.
    #[serde(serialize_with = "six_decimals")]
    pub length_s: f64,
    /// The interval is shorter than the others, because the window ended in it.
    pub partial: bool,
    /// Transactions that committed in the interval.
    pub transactions: u64,
    /// `transactions / length_s`.
    #[serde(serialize_with = "six_decimals")]
    pub tps: f64,
    /// Transactions that ended in an error in the interval.
    pub failed: u64,
    /// Tries beyond the first of transactions that ended in the interval.
    pub retries: u64,
    /// Arrivals given up as too late in the interval.
    pub skipped: u64,
    /// Transactions still running when the window ended: only in the last row of a run.
    pub unfinished: u64,
    /// Mean service time.
    #[serde(serialize_with = "six_decimals_or_none")]
    pub latency_mean_ms: Option<f64>,
    /// Median service time.
    pub latency_p50_ms: Option<f64>,
    /// 95th percentile of the service time.
    pub latency_p95_ms: Option<f64>,
    /// 99th percentile of the service time.
    pub latency_p99_ms: Option<f64>,
    /// 99.9th percentile of the service time.
    pub latency_p99_9_ms: Option<f64>,
    /// Longest service time.
    pub latency_max_ms: Option<f64>,
    /// Mean response time; with a rate only, as the five after it.
    #[serde(serialize_with = "six_decimals_or_none")]
    pub response_mean_ms: Option<f64>,
    /// Median response time.
    pub response_p50_ms: Option<f64>,
    /// 95th percentile of the response time.
    pub response_p95_ms: Option<f64>,
    /// 99th percentile of the response time.
    pub response_p99_ms: Option<f64>,
    /// 99.9th percentile of the response time.
    pub response_p99_9_ms: Option<f64>,
    /// Longest response time.
    pub response_max_ms: Option<f64>,
    /// Mean lag; with a rate only.
    #[serde(serialize_with = "six_decimals_or_none")]
    pub lag_mean_ms: Option<f64>,
    /// Longest lag; with a rate only.
    pub lag_max_ms: Option<f64>,
}

/// Times and rates are written to a millionth: what lies beyond is rounding of the division.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn six_decimals<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 1e6).round() / 1e6)
}

/// A mean in milliseconds to the nanosecond.
#[expect(clippy::ref_option, reason = "serde gives a reference")]
fn six_decimals_or_none<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.map(|value| (value * 1e6).round() / 1e6).serialize(serializer)
}
