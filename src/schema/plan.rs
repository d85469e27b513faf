//! The plan of a load: every choice made and checked before a connection is opened. Pure data.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::SchemaSize;
use super::sbtest::{MAX_TABLE_SIZE, MAX_TABLES};
use super::tpcb::MAX_SCALE;

/// The choices of `dbload init`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitPlan {
    /// What is loaded.
    pub size: SchemaSize,
    /// Connections that load at the same time.
    pub jobs: u32,
    /// Percentage to which the pages of the tables are filled (history apart).
    pub fillfactor: u8,
    /// Tables without write-ahead log.
    pub unlogged: bool,
    /// Foreign keys between the tables.
    pub foreign_keys: bool,
    /// Partitions of accounts; 0 for a plain table.
    pub partitions: u32,
    /// How accounts are partitioned; without effect when `partitions` is 0.
    pub partition_method: PartitionMethod,
    /// Tablespace of the tables.
    pub tablespace: Option<String>,
    /// Tablespace of the primary keys.
    pub index_tablespace: Option<String>,
    /// Drop tables of the schema that exist already.
    pub replace: bool,
    /// Vacuum and analyze after the load.
    pub vacuum: bool,
    /// Seed of the rows' random columns. The TPC-B-like tables have none.
    pub seed: u64,
}

impl Default for InitPlan {
    fn default() -> Self {
        Self {
            size: SchemaSize::Tpcb { scale: 1 },
            jobs: 1,
            fillfactor: 100,
            unlogged: false,
            foreign_keys: false,
            partitions: 0,
            partition_method: PartitionMethod::Range,
            tablespace: None,
            index_tablespace: None,
            replace: false,
            vacuum: true,
            seed: 0,
        }
    }
}

/// How accounts are partitioned by `aid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartitionMethod {
    /// Consecutive keys of equal number.
    Range,
    /// By a hash of the key.
    Hash,
}

impl fmt::Display for PartitionMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Range => "range",
            Self::Hash => "hash",
        })
    }
}

impl FromStr for PartitionMethod {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        match text {
            "range" => Ok(Self::Range),
            "hash" => Ok(Self::Hash),
            _ => Err(PlanError::PartitionMethod(text.to_owned())),
        }
    }
}

/// A choice that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Outside its range.
    #[error("{option} is {given}: allowed are {low} to {high}")]
    Range {
        /// The option.
        option: &'static str,
        /// What was given.
        given: u64,
        /// Least allowed value.
        low: u64,
        /// Greatest allowed value.
        high: u64,
    },
    /// Unknown partition method.
    #[error("--partition-method is \"{0}\": allowed are range and hash")]
    PartitionMethod(String),
    /// Options that PostgreSQL cannot bring together.
    #[error(
        "--unlogged, --partitions and --foreign-keys cannot go together: a partitioned table is \
         never unlogged itself, and PostgreSQL lets it refer to logged tables only; leave one out"
    )]
    UnloggedPartitionsWithKeys,
    /// An option of another schema.
    #[error("{option} is for the TPC-B-like tables: the sysbench tables have no {what}")]
    OtherSchema {
        /// The option.
        option: &'static str,
        /// What they lack.
        what: &'static str,
    },
    /// An option of another engine.
    #[error("{option} is for PostgreSQL: {engine} has no {what}")]
    NotThere {
        /// The option.
        option: &'static str,
        /// The engine's name.
        engine: &'static str,
        /// What it lacks.
        what: &'static str,
    },
}

impl InitPlan {
    /// Refuses values outside their ranges, and options that exclude each other.
    pub fn check(&self) -> Result<(), PlanError> {
        let mut ranges = vec![
            ("--jobs", u64::from(self.jobs), 1, 1024),
            ("--fillfactor", u64::from(self.fillfactor), 10, 100),
        ];
        match self.size {
            SchemaSize::Tpcb { scale } => {
                ranges.push(("--scale", scale.into(), 1, MAX_SCALE.into()));
            }
            SchemaSize::Sbtest { tables, table_size } => {
                ranges.push(("--tables", tables.into(), 1, MAX_TABLES.into()));
                ranges.push(("--table-size", table_size, 1, MAX_TABLE_SIZE));
                self.check_sbtest()?;
            }
        }
        for (option, given, low, high) in ranges {
            if !(low..=high).contains(&given) {
                return Err(PlanError::Range { option, given, low, high });
            }
        }
        if self.unlogged && self.partitions > 0 && self.foreign_keys {
            return Err(PlanError::UnloggedPartitionsWithKeys);
        }
        Ok(())
    }

    fn check_sbtest(&self) -> Result<(), PlanError> {
        let options = [
            (self.foreign_keys, "--foreign-keys", "keys into each other"),
            (self.partitions > 0, "--partitions", "partitions"),
        ];
        match options.into_iter().find(|(given, _, _)| *given) {
            Some((_, option, what)) => Err(PlanError::OtherSchema { option, what }),
            None => Ok(()),
        }
    }

    /// Refuses what only PostgreSQL can do; `engine` is the name that the message shows, and some
    /// of the others have foreign keys, too.
    pub fn check_plain(
        &self,
        engine: &'static str,
        has_foreign_keys: bool,
    ) -> Result<(), PlanError> {
        let options = [
            (self.fillfactor != 100, "--fillfactor", "fill factor"),
            (self.unlogged, "--unlogged", "unlogged tables"),
            (
                self.foreign_keys && !has_foreign_keys,
                "--foreign-keys",
                "way to add them after the load",
            ),
            (self.partitions > 0, "--partitions", "partitions"),
            (self.tablespace.is_some(), "--tablespace", "tablespaces"),
            (self.index_tablespace.is_some(), "--index-tablespace", "tablespaces"),
        ];
        match options.into_iter().find(|(given, _, _)| *given) {
            Some((_, option, what)) => Err(PlanError::NotThere { option, engine, what }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_allowed_everywhere() {
        let plan = InitPlan::default();
        assert_eq!(plan.check(), Ok(()));
        assert_eq!(plan.check_plain("SQLite", false), Ok(()));
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_option_and_what_is_allowed() {
        let message = |plan: InitPlan| plan.check().unwrap_err().to_string();
        assert_eq!(
            message(InitPlan { size: SchemaSize::Tpcb { scale: 0 }, ..InitPlan::default() }),
            "--scale is 0: allowed are 1 to 214748364"
        );
        assert_eq!(
            message(InitPlan { fillfactor: 9, ..InitPlan::default() }),
            "--fillfactor is 9: allowed are 10 to 100"
        );
        assert!(message(InitPlan { jobs: 0, ..InitPlan::default() }).starts_with("--jobs is 0"));
    }

    #[test]
    fn what_the_sysbench_tables_cannot_have_is_refused_by_name() {
        let plan = |table_size, partitions| InitPlan {
            size: SchemaSize::Sbtest { tables: 1, table_size },
            partitions,
            ..InitPlan::default()
        };
        assert_eq!(plan(10, 0).check(), Ok(()));
        assert_eq!(
            plan(3_000_000_000, 0).check().unwrap_err().to_string(),
            "--table-size is 3000000000: allowed are 1 to 2147483647"
        );
        assert!(plan(10, 2).check().unwrap_err().to_string().starts_with("--partitions is for"));
    }

    #[test]
    fn any_two_of_unlogged_partitions_and_foreign_keys_are_allowed_but_not_all() {
        let all =
            InitPlan { unlogged: true, partitions: 1, foreign_keys: true, ..InitPlan::default() };
        assert_eq!(all.check(), Err(PlanError::UnloggedPartitionsWithKeys));
        for two in [
            InitPlan { unlogged: false, ..all.clone() },
            InitPlan { partitions: 0, ..all.clone() },
            InitPlan { foreign_keys: false, ..all.clone() },
        ] {
            assert_eq!(two.check(), Ok(()));
        }
    }

    #[test]
    fn what_only_postgresql_has_is_refused_elsewhere_by_name() {
        let plan = InitPlan { partitions: 3, ..InitPlan::default() };
        assert_eq!(
            plan.check_plain("SQLite", false).unwrap_err().to_string(),
            "--partitions is for PostgreSQL: SQLite has no partitions"
        );
    }

    #[test]
    fn partition_methods_are_read_and_written_alike() {
        for method in [PartitionMethod::Range, PartitionMethod::Hash] {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        assert!("list".parse::<PartitionMethod>().unwrap_err().to_string().contains("\"list\""));
    }
}
