//! The contract between the runner and a database.
//!
//! `Engine` makes connections; a `Session` borrows one and executes a workload's statements by
//! number (the hot path, statically dispatched, no allocation); `Admin` does everything else over
//! a connection of its own. Engines know SQL and wires, never files of results or printing.

mod blocking;
#[cfg(test)]
mod conformance;
pub(crate) mod monitor;
pub(crate) mod mysql;
pub(crate) mod postgres;
#[cfg(test)]
pub(crate) mod sim;
pub(crate) mod sqlite;
mod tab_text;
mod tls;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use monitor::Reading;

use crate::plan::Protocol;
use crate::schema::TableRows;
use crate::script::Dialect;
use crate::script::program::StmtId;
use crate::script::value::Value;
use crate::workload::Workload;

/// A database that can be loaded and measured.
pub(crate) trait Engine: Sized + Send + Sync + 'static {
    /// Its SQL, and its name in files and results.
    const DIALECT: Dialect;
    /// A statement blocks its thread, so each client needs a worker of its own.
    const BLOCKING: bool;
    /// One connection.
    type Conn: 'static;
    /// A connection with the workload's statements ready.
    type Session<'c>: Session
    where
        Self: 'c;
    /// A connection for everything that is not measured.
    type Admin: Admin;
    /// Cancels what a connection is doing, from another thread.
    type Canceller: Canceller;

    /// Gets ready for a level; each of its workers calls it before its clients connect.
    async fn begin(&self, _workload: &Workload, _protocol: Protocol) -> Result<(), DbError> {
        Ok(())
    }
    /// Connects a client.
    async fn connect(&self) -> Result<Self::Conn, DbError>;
    /// Connects a client that has its thread to itself, so that its statements may block it.
    async fn connect_alone(&self) -> Result<Self::Conn, DbError> {
        self.connect().await
    }
    /// A handle that cancels what `conn` is doing.
    fn canceller(&self, conn: &Self::Conn) -> Self::Canceller;
    /// Runs SQL of the user's on a client's connection, before it is opened; several statements are
    /// separated by semicolons.
    async fn set_up(&self, conn: &mut Self::Conn, sql: &str) -> Result<(), DbError>;
    /// Makes the statements of `workload` ready on `conn`.
    async fn open<'c>(
        &'c self,
        conn: &'c mut Self::Conn,
        workload: &'c Workload,
        protocol: Protocol,
        preparing: Preparing,
    ) -> Result<Self::Session<'c>, DbError>;
    /// Connects for administration.
    async fn admin(&self) -> Result<Self::Admin, DbError>;
}

/// When a session in prepared protocol prepares its statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preparing {
    /// All of them, before the first transaction.
    AtStart,
    /// Each when it is executed for the first time: the session may not live to execute all.
    AtFirstUse,
}

/// The state of a session's transaction block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// Outside any block.
    Idle,
    /// Inside a block.
    Open,
    /// Inside a block that an error has ended; only a rollback helps.
    Failed,
}

/// The rows of one statement that a script keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Rows returned.
    pub(crate) rows: u64,
    /// Whether the statement returns rows at all (an UPDATE does not).
    pub(crate) returns_rows: bool,
    /// Column names.
    pub(crate) columns: Vec<String>,
    /// The last row as text; NULL is `None`.
    pub(crate) last: Vec<Option<String>>,
}

/// A connection with its statements ready: the hot path.
pub(crate) trait Session {
    /// Executes statement `stmt` with the variables `vars` and waits for its end. Rows are counted
    /// and dropped unless `keep` wants them (one entry per statement of the command). Returns the
    /// rows returned or changed.
    async fn execute(
        &mut self,
        stmt: StmtId,
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError>;
    /// The transaction block as of the last reply.
    fn block(&self) -> Block;
    /// Opens, marks or closes a pipeline. Scripts with pipelines are refused for engines without
    /// them before they connect. At its end `rows` gets the rows of each statement of it, in order.
    async fn pipeline(&mut self, step: PipelineStep, rows: &mut Vec<u64>) -> Result<(), DbError> {
        rows.clear();
        let text = format!("this engine has no pipelines ({step:?})");
        Err(DbError::new(ErrorKind::Other, "", text))
    }
    /// Whether a pipeline is open: statements are sent, their replies not read.
    fn in_pipeline(&self) -> bool {
        false
    }
    /// Ends an open pipeline, and an open or failed block whose work it undoes.
    async fn rollback(&mut self) -> Result<(), DbError>;
    /// Says goodbye to the server.
    async fn close(self);
}

/// A step of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipelineStep {
    /// What is executed from here on is sent without waiting for replies.
    Start,
    /// A point at which the server commits what came before, and forgets its errors.
    Sync,
    /// Everything is waited for.
    End,
}

/// Cancels a running statement.
pub(crate) trait Canceller: Send + 'static {
    /// Asks the server to stop what the connection does; silent when that fails.
    async fn cancel(&self);
}

/// A connection for loading, checking and maintaining: not measured, plain.
pub(crate) trait Admin {
    /// Runs one or several statements, separated by semicolons, without looking at rows. Outside
    /// a transaction block unless the text opens one.
    async fn batch(&mut self, sql: &str) -> Result<(), DbError>;
    /// Runs one statement and returns its rows as text.
    async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError>;
    /// Bulk-loads rows `range` of a table in one transaction; `done` is called now and then with
    /// the number of rows written since the call before.
    async fn load(
        &mut self,
        table: &TableRows,
        range: Range<u64>,
        done: &dyn Fn(u64),
    ) -> Result<(), DbError>;
    /// Claims the database's tables for a load, until `release` or the end of the connection; false
    /// where another load has them.
    async fn claim(&mut self) -> Result<bool, DbError>;
    /// Gives the claim back. Silent when that fails: it ends with the connection.
    async fn release(&mut self);
    /// What the server is and how it is set.
    async fn facts(&mut self) -> Result<ServerFacts, DbError>;
    /// Sets to zero what the server has counted so far, where it keeps that beyond its restart.
    async fn reset_statistics(&mut self) -> Result<(), DbError> {
        Ok(())
    }
    /// What the server counts and does at this moment; nothing for one that does not tell.
    async fn reading(&mut self) -> Result<Reading, DbError> {
        Ok(Reading::default())
    }
}

/// What a server says about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ServerFacts {
    /// Its version, as it says it.
    pub(crate) version: String,
    /// Settings that can change the figures: name and value.
    pub(crate) settings: BTreeMap<String, String>,
    /// The folder that holds the data, as the server names it; absent when it does not tell.
    pub(crate) data_directory: Option<String>,
    /// The folder that holds the write-ahead log; absent when it does not tell.
    pub(crate) log_directory: Option<String>,
    /// Size of the database.
    pub(crate) database_bytes: Option<u64>,
    /// Whether the server runs on this machine, so that its folder can be looked at.
    pub(crate) local: bool,
    /// How many clients it accepts; absent when there is no limit.
    pub(crate) clients_max: Option<u32>,
    /// How this connection reaches it: `socket` (a Unix socket), `tcp`, or `tls` (TCP, encrypted);
    /// absent where nothing is connected to.
    pub(crate) transport: Option<String>,
    /// What makes loading slower than it could be, and what to change.
    pub(crate) load_note: Option<String>,
    /// How often it makes a checkpoint, in seconds; absent when it does not go by the clock.
    pub(crate) checkpoint_s: Option<f64>,
}

/// What kind of failure a statement met; decides what the client does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Serialization failure (40001, 1020).
    Serialization,
    /// Deadlock (40P01, 1213).
    Deadlock,
    /// Lock wait timed out (1205, 55P03).
    LockTimeout,
    /// Another writer holds the database (`SQLITE_BUSY`).
    Busy,
    /// Unique key violated.
    Duplicate,
    /// The connection is gone.
    Lost,
    /// The statement was cancelled at our own request.
    Cancelled,
    /// No connection could be made (server absent, password refused, database missing).
    Connect,
    /// A table is missing.
    MissingTable,
    /// Any other error of the server or the driver.
    Other,
}

impl ErrorKind {
    const ALL: [Self; 10] = [
        Self::Serialization,
        Self::Deadlock,
        Self::LockTimeout,
        Self::Busy,
        Self::Duplicate,
        Self::Lost,
        Self::Cancelled,
        Self::Connect,
        Self::MissingTable,
        Self::Other,
    ];

    /// Whether it is the word for a kind.
    pub(crate) fn named(word: &str) -> bool {
        Self::ALL.iter().any(|kind| kind.name() == word)
    }

    /// A word for counting failures that carry no code of the engine's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Serialization => "serialization",
            Self::Deadlock => "deadlock",
            Self::LockTimeout => "lock-timeout",
            Self::Busy => "busy",
            Self::Duplicate => "duplicate",
            Self::Lost => "connection-lost",
            Self::Cancelled => "cancelled",
            Self::Connect => "connect",
            Self::MissingTable => "missing-table",
            Self::Other => "other",
        }
    }
}

/// A failure, one pointer wide so that the hot path moves little.
#[derive(Debug, Clone)]
pub(crate) struct DbError(Box<DbErrorParts>);

#[derive(Debug, Clone)]
struct DbErrorParts {
    kind: ErrorKind,
    code: String,
    text: String,
}

impl DbError {
    /// `code` is the engine's own: an SQLSTATE, an error number, or a name such as `SQLITE_BUSY`;
    /// empty when there is none. `text` never holds a password.
    pub(crate) fn new(kind: ErrorKind, code: impl Into<String>, text: impl Into<String>) -> Self {
        Self(Box::new(DbErrorParts { kind, code: code.into(), text: text.into() }))
    }

    /// The same, as the failure of a user's session SQL.
    pub(crate) fn in_session_sql(&self, sql: &str) -> Self {
        let text = format!("--session-sql \"{sql}\": {}", self.text());
        Self::new(self.kind(), self.code(), text)
    }

    /// Session SQL that leaves a block open.
    pub(crate) fn open_block_of_session_sql(sql: &str) -> Self {
        let text = "it leaves a transaction block open, in which every transaction would run: end \
                    it with COMMIT";
        Self::new(ErrorKind::Other, "", text).in_session_sql(sql)
    }

    /// The kind of failure.
    pub(crate) fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The engine's code; empty when it gave none.
    pub(crate) fn code(&self) -> &str {
        &self.0.code
    }

    /// What went wrong, without the code.
    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether the same transaction may succeed when it is tried again.
    pub(crate) fn is_retriable(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Serialization
                | ErrorKind::Deadlock
                | ErrorKind::LockTimeout
                | ErrorKind::Busy
        )
    }
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.code.is_empty() {
            f.write_str(&self.0.text)
        } else {
            write!(f, "{} ({})", self.0.text, self.0.code)
        }
    }
}

impl std::error::Error for DbError {}
