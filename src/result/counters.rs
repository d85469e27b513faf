//! Counters of the machine and of the server: what the columns of `host.csv` and `server.csv`
//! are, and what of them stands in `summary.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Whether a figure only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Counts from some beginning: what happened meanwhile is the difference of two samples.
    Total,
    /// The value of the moment.
    Gauge,
}

/// One figure of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in files, with the unit.
    pub name: &'static str,
    /// Whether it only grows.
    pub kind: Kind,
}

const fn total(name: &'static str) -> Column {
    Column { name, kind: Kind::Total }
}

const fn gauge(name: &'static str) -> Column {
    Column { name, kind: Kind::Gauge }
}

/// The figures of `host.csv`, in their order.
pub const HOST: &[Column] = &[
    total("cpu_user_us"),
    total("cpu_system_us"),
    total("cpu_iowait_us"),
    total("cpu_steal_us"),
    total("cpu_idle_us"),
    total("context_switches"),
    total("client_user_us"),
    total("client_system_us"),
    total("pressure_cpu_some_us"),
    total("pressure_io_some_us"),
    total("pressure_io_full_us"),
    total("pressure_memory_some_us"),
    total("pressure_memory_full_us"),
    gauge("dirty_kib"),
    gauge("writeback_kib"),
    total("swapped_in_pages"),
    total("swapped_out_pages"),
    total("major_faults"),
    total("data_reads"),
    total("data_read_kib"),
    total("data_writes"),
    total("data_written_kib"),
    total("data_flushes"),
    total("data_discards"),
    total("data_discarded_kib"),
    total("data_busy_ms"),
    total("data_queue_ms"),
    total("wal_reads"),
    total("wal_read_kib"),
    total("wal_writes"),
    total("wal_written_kib"),
    total("wal_flushes"),
    total("wal_discards"),
    total("wal_discarded_kib"),
    total("wal_busy_ms"),
    total("wal_queue_ms"),
];

/// The figures of `server.csv`, in their order; those that an engine does not have are unknown.
pub const SERVER: &[Column] = &[
    total("commits"),
    total("rollbacks"),
    total("deadlocks"),
    total("wal_bytes"),
    total("wal_records"),
    total("full_page_images"),
    total("wal_buffers_full"),
    total("wal_writes"),
    total("wal_write_ms"),
    total("wal_fsyncs"),
    total("wal_fsync_ms"),
    total("log_switches"),
    total("log_written_bytes"),
    gauge("wal_file_bytes"),
    total("blocks_hit"),
    total("blocks_read"),
    total("block_read_ms"),
    total("block_write_ms"),
    total("buffers_allocated"),
    total("buffers_written_checkpointer"),
    total("buffers_written_bgwriter"),
    total("buffers_written_backend"),
    total("pages_flushed"),
    total("data_reads"),
    total("data_writes"),
    total("data_written_bytes"),
    total("data_fsyncs"),
    total("data_fsync_ms"),
    total("doublewrite_writes"),
    total("doublewrite_pages"),
    total("checkpoints"),
    total("checkpoints_timed"),
    total("checkpoints_requested"),
    total("checkpoint_write_ms"),
    total("checkpoint_sync_ms"),
    gauge("checkpoint_age_bytes"),
    gauge("history_list_length"),
    total("row_lock_waits"),
    total("temp_bytes"),
    gauge("database_bytes"),
    gauge("uptime_s"),
];

/// All figures of one moment, in the order of their columns; unknown ones are `None`.
pub type Values = Vec<Option<f64>>;

/// What the figures grew by between two samples; gauges and unknown ones are `None`, and a counter
/// that went back began anew, which is not known either.
pub fn growth(columns: &[Column], before: &Values, after: &Values) -> Values {
    let pairs = columns.iter().zip(before.iter().zip(after));
    pairs
        .map(|(column, (before, after))| match column.kind {
            Kind::Total => before.zip(*after).map(|(b, a)| a - b).filter(|grown| *grown >= 0.0),
            Kind::Gauge => None,
        })
        .collect()
}

/// The known figures by name.
pub fn named(columns: &[Column], values: &Values) -> BTreeMap<String, f64> {
    let known = columns.iter().zip(values);
    known.filter_map(|(column, value)| Some((column.name.to_owned(), (*value)?))).collect()
}

/// The machine's own counters over the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostCounters {
    /// The server runs on this machine too. When it does not, only dbload's own figures are of use.
    pub same_machine: bool,
    /// What each counter grew by, by the name of its column in `host.csv`.
    pub total: BTreeMap<String, f64>,
    /// What one committed transaction cost.
    pub per_txn: BTreeMap<String, f64>,
    /// Shares of the window's time.
    pub shares: BTreeMap<String, f64>,
}

/// The server's own counters over the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerCounters {
    /// What each counter of `server.csv` grew by.
    pub total: BTreeMap<String, f64>,
    /// The same divided by committed transactions.
    pub per_txn: BTreeMap<String, f64>,
    /// Blocks found in the server's own cache, of all blocks that were wanted.
    pub hit_ratio: Option<f64>,
    /// Sessions that waited for each event, on average over the samples.
    pub waits: BTreeMap<String, f64>,
}

impl ServerCounters {
    /// The figures from what each counter grew by.
    pub fn of(
        total: BTreeMap<String, f64>,
        waits: BTreeMap<String, f64>,
        transactions: u64,
    ) -> Self {
        let blocks = |name: &str| total.get(name).copied();
        let hit_ratio = blocks("blocks_hit").zip(blocks("blocks_read"));
        let per_txn = total.iter().map(|(name, grown)| (name.clone(), grown / transactions as f64));
        Self {
            hit_ratio: hit_ratio.map(|(hit, read)| hit / (hit + read)).filter(|r| r.is_finite()),
            per_txn: per_txn.filter(|_| transactions > 0).collect(),
            total,
            waits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[total("a"), gauge("b"), total("c"), total("d")];

    #[test]
    fn only_counters_that_are_known_and_did_not_begin_anew_grow() {
        let before = vec![Some(5.0), Some(1.0), None, Some(9.0)];
        let after = vec![Some(7.0), Some(3.0), Some(4.0), Some(2.0)];
        let grown = growth(COLUMNS, &before, &after);
        assert_eq!(grown, [Some(2.0), None, None, None]);
        assert_eq!(named(COLUMNS, &grown), BTreeMap::from([("a".to_owned(), 2.0)]));
    }
}
