//! Loading, checking and maintaining on SQLite: one connection, one writer.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Statement};

use super::error::from_sqlite;
use super::session::text_of;
use crate::engine::monitor::Reading;
use crate::engine::{Admin, DbError, ErrorKind, ServerFacts};
use crate::schema::{RowWriter, TableRows};

/// Rows between two calls that report progress.
const ROWS_PER_REPORT: u64 = 10_000;
/// Page cache of the connection that loads, in KiB (negative, as the pragma wants it): its dirty
/// pages are then written once, in order, at the end of a transaction of 100,000 accounts (10 MiB).
const LOAD_CACHE_KIB: i64 = -65_536;

/// What a result records about the settings; a change of one can change the figures.
const PRAGMAS: [&str; 7] = [
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "mmap_size",
    "wal_autocheckpoint",
    "busy_timeout",
];

/// A connection that is not measured.
pub(crate) struct SqliteAdmin {
    conn: Connection,
    path: PathBuf,
    /// The file was made for this connection.
    made: bool,
    /// While a load has the file.
    claim: Option<UnixListener>,
}

impl SqliteAdmin {
    pub(super) fn new(conn: Connection, path: PathBuf, made: bool) -> Self {
        Self { conn, path, made, claim: None }
    }

    fn insert(
        &self,
        table: &TableRows,
        range: Range<u64>,
        done: &dyn Fn(u64),
    ) -> rusqlite::Result<()> {
        let marks = vec!["?"; table.columns.len()].join(", ");
        let columns = table.columns.join(", ");
        let sql = format!("insert into {} ({columns}) values ({marks})", table.table);
        let mut row = RowInsert { statement: self.conn.prepare(&sql)?, column: 0, outcome: Ok(()) };
        let mut reported = range.start;
        for index in range.clone() {
            table.write_row(index, &mut row);
            row.outcome?;
            row.outcome = Ok(());
            let written = index + 1;
            if written - reported == ROWS_PER_REPORT || written == range.end {
                done(written - reported);
                reported = written;
            }
        }
        Ok(())
    }
}

/// Takes back a file that was made for this connection and in which nothing was ever stored: a
/// refused load leaves no trace.
impl Drop for SqliteAdmin {
    fn drop(&mut self) {
        let unused = || self.conn.query_row("pragma schema_version", [], |row| row.get(0));
        if self.made && matches!(unused(), Ok(0)) {
            for ending in ["", "-wal", "-shm"] {
                let mut path = self.path.clone().into_os_string();
                path.push(ending);
                // An empty file that stays is not worth an error.
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Admin for SqliteAdmin {
    /// A name in the kernel's memory, which ends with its process and leaves no file: a lock of the
    /// file itself would disturb SQLite's own.
    async fn claim(&mut self) -> Result<bool, DbError> {
        let listen = || {
            let file = fs::metadata(&self.path)?;
            let name = format!("dbload load {} {}", file.dev(), file.ino());
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)
        };
        match listen() {
            Ok(claim) => {
                self.claim = Some(claim);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(false),
            Err(error) => Err(DbError::new(ErrorKind::Other, "", error.to_string())),
        }
    }

    async fn release(&mut self) {
        self.claim = None;
    }

    async fn batch(&mut self, sql: &str) -> Result<(), DbError> {
        self.conn.execute_batch(sql).map_err(|error| from_sqlite(&error))
    }

    async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let read = || {
            let mut statement = self.conn.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            let mut texts = Vec::new();
            while let Some(row) = rows.next()? {
                let cell = |column| row.get_ref(column).map(text_of);
                texts.push((0..columns).map(cell).collect::<rusqlite::Result<Vec<_>>>()?);
            }
            Ok(texts)
        };
        read().map_err(|error| from_sqlite(&error))
    }

    async fn load(
        &mut self,
        table: &TableRows,
        range: Range<u64>,
        done: &dyn Fn(u64),
    ) -> Result<(), DbError> {
        let load = || {
            self.conn.pragma_update(None, "cache_size", LOAD_CACHE_KIB)?;
            self.conn.execute_batch("begin immediate")?;
            let loaded = self.insert(table, range, done);
            let end = if loaded.is_ok() { "commit" } else { "rollback" };
            let ended = self.conn.execute_batch(end);
            loaded.and(ended)
        };
        load().map_err(|error| from_sqlite(&error))
    }

    async fn facts(&mut self) -> Result<ServerFacts, DbError> {
        let mut settings = BTreeMap::new();
        for pragma in PRAGMAS {
            let rows = self.rows(&format!("pragma {pragma}")).await?;
            if let Some(Some(value)) = rows.into_iter().next().and_then(|mut row| row.pop()) {
                settings.insert(pragma.to_owned(), value);
            }
        }
        if let Some(level) = settings.get_mut("synchronous") {
            *level = synchronous_name(level).to_owned();
        }
        let folder = self.path.canonicalize().ok();
        let folder = folder.as_deref().and_then(|path| path.parent());
        Ok(ServerFacts {
            version: rusqlite::version().to_owned(),
            settings,
            data_directory: folder.map(|folder| folder.display().to_string()),
            log_directory: None,
            database_bytes: fs::metadata(&self.path).ok().map(|file| file.len()),
            local: true,
            clients_max: None,
            checkpoint_s: None,
            transport: None,
            load_note: None,
        })
    }

    /// From the files alone: a statement would wait for whoever holds the database.
    async fn reading(&mut self) -> Result<Reading, DbError> {
        let log = PathBuf::from(format!("{}-wal", self.path.display()));
        let size = |path: &Path| fs::metadata(path).ok().map(|file| file.len() as f64);
        let figures = [
            ("database_bytes", size(&self.path)),
            ("wal_file_bytes", size(&log)),
            ("checkpoints", checkpoints(&log).map(f64::from)),
        ];
        let known =
            figures.into_iter().filter_map(|(name, figure)| Some((name.to_owned(), figure?)));
        Ok(Reading { figures: known.collect(), ..Reading::default() })
    }
}

/// How often the log was begun anew after a checkpoint, from its header (sqlite.org/fileformat2,
/// "WAL header": the checkpoint sequence number). The log may be opened beside SQLite: no lock is
/// held on it, and closing a file ends this process's locks on it. The database and its index of
/// the log must not be opened here for that reason.
fn checkpoints(log: &Path) -> Option<u32> {
    let mut header = [0; 16];
    fs::File::open(log).ok()?.read_exact(&mut header).ok()?;
    Some(u32::from_be_bytes(header[12..].try_into().ok()?))
}

/// The name of a level that the pragma returns as a number.
fn synchronous_name(level: &str) -> &str {
    match level {
        "0" => "off",
        "1" => "normal",
        "2" => "full",
        "3" => "extra",
        other => other,
    }
}

/// Binds a row to a prepared INSERT, column by column, and executes it at the row's end.
struct RowInsert<'c> {
    statement: Statement<'c>,
    column: usize,
    outcome: rusqlite::Result<()>,
}

impl RowInsert<'_> {
    fn bind(&mut self, value: impl rusqlite::ToSql) {
        self.column += 1;
        let bound = self.statement.raw_bind_parameter(self.column, value);
        if self.outcome.is_ok() {
            self.outcome = bound;
        }
    }
}

impl RowWriter for RowInsert<'_> {
    fn int(&mut self, value: i64) {
        self.bind(value);
    }

    fn text(&mut self, value: &str) {
        self.bind(value);
    }

    fn null(&mut self) {
        self.bind(rusqlite::types::Null);
    }

    fn end_row(&mut self) {
        self.column = 0;
        if self.outcome.is_ok() {
            self.outcome = self.statement.raw_execute().map(drop);
        }
    }
}
