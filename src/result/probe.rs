//! What a probe of a storage without a database gave.

use serde::{Deserialize, Serialize};

/// One job of fio on one storage in one round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Name of the storage in the plan.
    pub storage: String,
    /// Round, from 1.
    pub round: u32,
    /// `random` or `wal`.
    pub job: String,
    /// Whether the page cache was left out.
    pub direct: bool,
    /// Reads; absent where the job reads nothing.
    pub read: Option<ProbeIo>,
    /// Writes.
    pub write: Option<ProbeIo>,
    /// Flushes; absent where the job makes none.
    pub flush: Option<ProbeFlush>,
}

/// One direction of a probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeIo {
    /// Operations a second.
    pub iops: f64,
    /// 1024 bytes a second.
    pub kib_per_s: f64,
    /// 95th percentile of the completion latency.
    pub clat_p95_ms: f64,
    /// 99th percentile of the completion latency.
    pub clat_p99_ms: f64,
}

/// The flushes of a probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeFlush {
    /// Median latency.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}
