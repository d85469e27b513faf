//! Which tables, and how many rows: the one thing that differs between the loads of two schemas.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{TableRows, sbtest, tpcb};

/// A set of tables that workloads run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Schema {
    /// Branches, tellers, accounts and history, as pgbench makes them.
    Tpcb,
    /// `sbtest1`, `sbtest2` and so on, as sysbench makes them.
    Sbtest,
}

impl Schema {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Tpcb, Self::Sbtest];

    /// Its name in the header of a script, and of its folder under `sql/`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tpcb => "tpcb",
            Self::Sbtest => "sbtest",
        }
    }

    /// The schema of that name.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|schema| schema.key() == key)
    }

    /// The command that makes its tables.
    pub fn init_command(self) -> &'static str {
        match self {
            Self::Tpcb => "dbload init --scale N",
            Self::Sbtest => "dbload init --workload sysbench --tables N --table-size M",
        }
    }

    /// The table of `dbload`'s own notes.
    pub fn state_table(self) -> &'static str {
        match self {
            Self::Tpcb => "dbload_state",
            Self::Sbtest => "dbload_sbtest_state",
        }
    }
}

/// How much of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SchemaSize {
    /// The TPC-B-like tables.
    Tpcb {
        /// Scale factor: branches; ten tellers and 100,000 accounts each.
        scale: u32,
    },
    /// Tables of sysbench's shape.
    Sbtest {
        /// Number of tables.
        tables: u32,
        /// Rows of each.
        table_size: u64,
    },
}

impl SchemaSize {
    /// The schema.
    pub fn schema(self) -> Schema {
        match self {
            Self::Tpcb { .. } => Schema::Tpcb,
            Self::Sbtest { .. } => Schema::Sbtest,
        }
    }

    /// The scale factor, where the schema has one.
    pub fn scale(self) -> Option<u32> {
        match self {
            Self::Tpcb { scale } => Some(scale),
            Self::Sbtest { .. } => None,
        }
    }

    /// The options that ask for it.
    pub fn options(self) -> String {
        match self {
            Self::Tpcb { scale } => format!("--scale {scale}"),
            Self::Sbtest { tables, table_size } => {
                format!("--tables {tables} --table-size {table_size}")
            }
        }
    }

    /// The same tables with as many rows as fit where `units` of these do.
    pub fn shrunk(self, free_bytes: u64, needed_bytes: u64) -> String {
        let of = |units: u64| {
            let fits = u128::from(units) * u128::from(free_bytes) / u128::from(needed_bytes.max(1));
            u64::try_from(fits).unwrap_or(u64::MAX)
        };
        match self {
            Self::Tpcb { scale } => format!("--scale {}", of(scale.into())),
            Self::Sbtest { tables, table_size } => {
                format!("--tables {tables} --table-size {}", of(table_size))
            }
        }
    }

    /// The rows of all tables, in loading order; see [`tpcb::tables`] and [`sbtest::tables`].
    pub fn rows(self, seed: u64, pads: bool, freeze: bool, partitioned: bool) -> Vec<TableRows> {
        match self {
            Self::Tpcb { scale } => tpcb::tables(scale, pads, freeze, partitioned),
            Self::Sbtest { tables, table_size } => sbtest::tables(tables, table_size, seed, freeze),
        }
    }
}

impl fmt::Display for SchemaSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tpcb { scale } => write!(f, "scale {scale}"),
            Self::Sbtest { tables, table_size } => {
                let s = if *tables == 1 { "" } else { "s" };
                write!(f, "{tables} table{s} of {table_size} rows")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_as_words_and_as_options() {
        let size = SchemaSize::Sbtest { tables: 2, table_size: 1000 };
        assert_eq!(size.to_string(), "2 tables of 1000 rows");
        assert_eq!(size.options(), "--tables 2 --table-size 1000");
        assert_eq!(size.shrunk(25, 100), "--tables 2 --table-size 250");
        assert_eq!(SchemaSize::Tpcb { scale: 4 }.shrunk(2 << 60, 4 << 60), "--scale 2");
        assert_eq!(SchemaSize::Tpcb { scale: 4 }.to_string(), "scale 4");
    }

    #[test]
    fn every_schema_is_found_by_its_name() {
        for schema in Schema::ALL {
            assert_eq!(Schema::from_key(schema.key()), Some(schema));
        }
        assert_eq!(Schema::from_key("sysbench"), None);
    }
}
