//! Embedded SQLite. A statement blocks its thread, so every client has a worker and a connection
//! of its own; the futures here are ready at once. The tables of a workload are ordinary tables of
//! the file: nothing here knows a schema.

mod admin;
mod error;
mod session;

use rusqlite::{Connection, InterruptHandle, OpenFlags};

use self::admin::SqliteAdmin;
use self::error::cannot_open;
use self::session::SqliteSession;
use super::{Canceller, DbError, Engine, ErrorKind, Preparing};
use crate::plan::Protocol;
use crate::script::Dialect;
use crate::target::SqliteTarget;
use crate::workload::Workload;

/// An SQLite database file.
#[derive(Debug, Clone)]
pub(crate) struct Sqlite {
    target: SqliteTarget,
    may_create: bool,
}

impl Sqlite {
    /// The database of `target`, whose file must exist.
    pub(crate) fn new(target: SqliteTarget) -> Self {
        Self { target, may_create: false }
    }

    /// The same, for a load: [`Engine::admin`] makes the file when it does not exist.
    pub(crate) fn creating(self) -> Self {
        Self { may_create: true, ..self }
    }

    fn open_file(&self, create: bool) -> Result<Connection, DbError> {
        let path = &self.target.path;
        let exists = path.exists();
        if !exists && !create {
            return Err(DbError::new(
                ErrorKind::Connect,
                "",
                format!("there is no SQLite database {}: `dbload init` makes one", path.display()),
            ));
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if !exists {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let open = || {
            let conn = Connection::open_with_flags(path, flags)?;
            self.settle(&conn)?;
            Ok(conn)
        };
        open().map_err(|error| cannot_open(path, &error))
    }

    /// Gives a connection the target's settings. The journal mode is kept in the file: setting it
    /// again takes no lock.
    fn settle(&self, conn: &Connection) -> rusqlite::Result<()> {
        conn.busy_timeout(self.target.busy_timeout)?;
        conn.pragma_update(None, "journal_mode", self.target.journal_mode.name())?;
        conn.pragma_update(None, "synchronous", self.target.synchronous.name())
    }
}

impl Engine for Sqlite {
    const DIALECT: Dialect = Dialect::Sqlite;
    const BLOCKING: bool = true;
    type Conn = Connection;
    type Session<'c> = SqliteSession<'c>;
    type Admin = SqliteAdmin;
    type Canceller = Interrupt;

    async fn connect(&self) -> Result<Connection, DbError> {
        self.open_file(false)
    }

    fn canceller(&self, conn: &Connection) -> Interrupt {
        Interrupt(conn.get_interrupt_handle())
    }

    async fn set_up(&self, conn: &mut Connection, sql: &str) -> Result<(), DbError> {
        session::run(conn, sql)
    }

    async fn open<'c>(
        &'c self,
        conn: &'c mut Connection,
        workload: &'c Workload,
        protocol: Protocol,
        preparing: Preparing,
    ) -> Result<SqliteSession<'c>, DbError> {
        SqliteSession::new(conn, workload, protocol, preparing)
    }

    async fn admin(&self) -> Result<SqliteAdmin, DbError> {
        let path = self.target.path.clone();
        let made = self.may_create && !path.exists();
        Ok(SqliteAdmin::new(self.open_file(self.may_create)?, path, made))
    }
}

/// Interrupts what a connection does.
pub(crate) struct Interrupt(InterruptHandle);

impl Canceller for Interrupt {
    async fn cancel(&self) {
        self.0.interrupt();
    }
}

#[cfg(test)]
mod tests;
