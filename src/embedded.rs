//! The files embedded in the binary: everything under `workloads/` and `sql/`, by relative path.

/// An embedded file: its path and its text.
macro_rules! embedded {
    ($path:literal) => {
        ($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path)))
    };
}

/// (path from the top of the repository, text), in the order of the paths.
pub const FILES: &[(&str, &str)] = &[
    embedded!("sql/admin/postgres/facts.sql"),
    embedded!("sql/admin/postgres/settings.sql"),
    embedded!("sql/admin/postgres/tablespace.sql"),
    embedded!("sql/sbtest/postgres/check.sql"),
    embedded!("sql/sbtest/postgres/columns.sql"),
    embedded!("sql/sbtest/postgres/create.sql"),
    embedded!("sql/sbtest/postgres/drop.sql"),
    embedded!("sql/sbtest/postgres/found.sql"),
    embedded!("sql/sbtest/postgres/index.sql"),
    embedded!("sql/sbtest/postgres/keys.sql"),
    embedded!("sql/sbtest/postgres/size.sql"),
    embedded!("sql/sbtest/postgres/state_create.sql"),
    embedded!("sql/sbtest/postgres/state_drop.sql"),
    embedded!("sql/sbtest/postgres/state_empty.sql"),
    embedded!("sql/sbtest/postgres/state_read.sql"),
    embedded!("sql/sbtest/postgres/state_write.sql"),
    embedded!("sql/sbtest/postgres/truncate.sql"),
    embedded!("sql/sbtest/postgres/vacuum.sql"),
    embedded!("sql/sbtest/sqlite/after_drop.sql"),
    embedded!("sql/sbtest/sqlite/check.sql"),
    embedded!("sql/sbtest/sqlite/columns.sql"),
    embedded!("sql/sbtest/sqlite/create.sql"),
    embedded!("sql/sbtest/sqlite/drop.sql"),
    embedded!("sql/sbtest/sqlite/found.sql"),
    embedded!("sql/sbtest/sqlite/index.sql"),
    embedded!("sql/sbtest/sqlite/size.sql"),
    embedded!("sql/sbtest/sqlite/state_create.sql"),
    embedded!("sql/sbtest/sqlite/state_drop.sql"),
    embedded!("sql/sbtest/sqlite/state_empty.sql"),
    embedded!("sql/sbtest/sqlite/state_read.sql"),
    embedded!("sql/sbtest/sqlite/state_write.sql"),
    embedded!("sql/sbtest/sqlite/vacuum.sql"),
    embedded!("sql/tpcb/postgres/before_run.sql"),
    embedded!("sql/tpcb/postgres/check.sql"),
    embedded!("sql/tpcb/postgres/columns.sql"),
    embedded!("sql/tpcb/postgres/create.sql"),
    embedded!("sql/tpcb/postgres/drop.sql"),
    embedded!("sql/tpcb/postgres/foreign_keys.sql"),
    embedded!("sql/tpcb/postgres/found.sql"),
    embedded!("sql/tpcb/postgres/index.sql"),
    embedded!("sql/tpcb/postgres/partition_hash.sql"),
    embedded!("sql/tpcb/postgres/partition_range.sql"),
    embedded!("sql/tpcb/postgres/size.sql"),
    embedded!("sql/tpcb/postgres/state_create.sql"),
    embedded!("sql/tpcb/postgres/state_read.sql"),
    embedded!("sql/tpcb/postgres/state_write.sql"),
    embedded!("sql/tpcb/postgres/truncate.sql"),
    embedded!("sql/tpcb/postgres/vacuum.sql"),
    embedded!("sql/tpcb/sqlite/after_drop.sql"),
    embedded!("sql/tpcb/sqlite/before_run.sql"),
    embedded!("sql/tpcb/sqlite/check.sql"),
    embedded!("sql/tpcb/sqlite/columns.sql"),
    embedded!("sql/tpcb/sqlite/create.sql"),
    embedded!("sql/tpcb/sqlite/drop.sql"),
    embedded!("sql/tpcb/sqlite/found.sql"),
    embedded!("sql/tpcb/sqlite/size.sql"),
    embedded!("sql/tpcb/sqlite/state_create.sql"),
    embedded!("sql/tpcb/sqlite/state_read.sql"),
    embedded!("sql/tpcb/sqlite/state_write.sql"),
    embedded!("sql/tpcb/sqlite/vacuum.sql"),
    embedded!("workloads/select-only.sql"),
    embedded!("workloads/simple-update.sql"),
    embedded!("workloads/tpcb-like.sql"),
];

/// The embedded text of `path`.
pub fn text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}
