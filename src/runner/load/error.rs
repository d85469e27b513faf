//! Why tables cannot be loaded, found, checked or dropped.

use thiserror::Error;

use crate::engine::DbError;
use crate::schema::SchemaSize;
use crate::schema::check::BadCell;
use crate::schema::columns::Foreign;
use crate::schema::plan::PlanError;
use crate::units::format_bytes;

/// A refusal, always before anything was touched, or a failure on the way.
#[derive(Debug, Error)]
pub(crate) enum LoadError {
    /// A choice that cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No connection.
    #[error(transparent)]
    Connect(DbError),
    /// Another load is under way.
    #[error(
        "another dbload is loading tables of this database; nothing was touched: wait until it has \
         ended"
    )]
    Claimed,
    /// A statement failed.
    #[error("{doing}: {error}")]
    Statement {
        /// What was to be done.
        doing: &'static str,
        /// The engine's error.
        error: DbError,
    },
    /// A relation of the schema's names is somebody else's.
    #[error("{0}; nothing was touched: rename or drop it, or use another database")]
    Foreign(Foreign),
    /// Tables exist and may not be dropped.
    #[error(
        "{} already exist{}; nothing was touched: --replace drops and loads them again",
        listed(.0), if .0.len() == 1 { "s" } else { "" }
    )]
    Exists(Vec<String>),
    /// Tables exist in another size.
    #[error(
        "the tables are of {found}, not {asked}; nothing was touched: give {} to use them, or \
         --replace to load them again", found.options()
    )]
    OtherSize {
        /// Of the tables.
        found: SchemaSize,
        /// Asked for.
        asked: SchemaSize,
    },
    /// A load did not end.
    #[error("the tables hold a load that was interrupted: `{init} --replace` loads them again")]
    Unfinished {
        /// The command that loads them.
        init: &'static str,
    },
    /// Tables are missing.
    #[error(
        "{} {} missing: `{init}` makes the tables", listed(missing),
        if missing.len() == 1 { "is" } else { "are" }
    )]
    Missing {
        /// Their names.
        missing: Vec<String>,
        /// The command that makes them.
        init: &'static str,
    },
    /// Tables without rows.
    #[error("{table} is empty: `{init} --replace` loads the tables again")]
    Empty {
        /// The table.
        table: String,
        /// The command that loads it.
        init: &'static str,
    },
    /// The disk cannot hold the tables.
    #[error(
        "{size} needs about {}, and {folder} has {} free; nothing was touched: free space, or load \
         less (up to {} fits)",
        format_bytes(*needed_bytes), format_bytes(*free_bytes),
        size.shrunk(*free_bytes, *needed_bytes)
    )]
    NoSpace {
        /// Asked for.
        size: SchemaSize,
        /// Estimate.
        needed_bytes: u64,
        /// Free, with what the tables to be dropped take now.
        free_bytes: u64,
        /// Where.
        folder: String,
    },
    /// More connections than the server accepts.
    #[error("--jobs is {jobs}: the server accepts {max} connections, and one is not for loading")]
    TooManyJobs {
        /// Connections asked for.
        jobs: u32,
        /// The server's limit.
        max: u32,
    },
    /// No such tablespace.
    #[error("there is no tablespace \"{0}\"; nothing was touched")]
    NoTablespace(String),
    /// An answer that the SQL files do not promise.
    #[error(transparent)]
    Answer(#[from] BadCell),
    /// An answer without the promised row.
    #[error("{0}: no row, or not the promised columns")]
    NoRow(&'static str),
    /// A thread could not be started, or panicked.
    #[error("a loading thread ended: {0}")]
    Thread(String),
}

impl LoadError {
    /// Names what was to be done.
    pub(super) fn doing(doing: &'static str) -> impl FnOnce(DbError) -> Self {
        move |error| Self::Statement { doing, error }
    }
}

/// Names in a sentence, the first few of many.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 6;
    match names.len() {
        0..=SHOWN => names.join(", "),
        count => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
    }
}
