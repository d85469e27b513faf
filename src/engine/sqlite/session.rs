//! The hot path on SQLite: statements prepared once and stepped, rows counted where they are.
//!
//! In prepared protocol an execution allocates nothing here. Extended prepares anew each time,
//! simple puts the variables into the text as well.

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Batch, Connection, Statement, ToSql};

use super::error::from_sqlite;
use crate::engine::{Block, DbError, Kept, Preparing, Session};
use crate::plan::Protocol;
use crate::script::program::{Slot, Statement as Command, StmtId};
use crate::script::value::Value;
use crate::workload::Workload;

/// A connection with its statements ready.
pub(crate) struct SqliteSession<'c> {
    conn: &'c Connection,
    commands: Vec<Ready<'c>>,
    /// Text of a command in simple protocol, its space used again.
    text: String,
}

/// A command of the workload.
struct Ready<'c> {
    command: &'c Command,
    protocol: Protocol,
    /// In prepared protocol; absent until the first execution if SQLite refused it at the start.
    prepared: Option<Statement<'c>>,
}

impl<'c> SqliteSession<'c> {
    /// Prepares the workload's statements. One that SQLite refuses is an error if it belongs to a
    /// built-in script, and is prepared at its first execution otherwise.
    pub(super) fn new(
        conn: &'c Connection,
        workload: &'c Workload,
        protocol: Protocol,
        preparing: Preparing,
    ) -> Result<Self, DbError> {
        let mut commands = Vec::with_capacity(workload.statements.len());
        for command in &workload.statements {
            let script = &workload.scripts[command.script as usize];
            let protocol =
                if script.not_preparable.is_some() { Protocol::Simple } else { protocol };
            let mut ready = Ready { command, protocol, prepared: None };
            if protocol == Protocol::Prepared && preparing == Preparing::AtStart {
                match conn.prepare(&ready.command.sql) {
                    Ok(statement) => ready.prepared = Some(statement),
                    Err(error) if script.source.is_embedded() => return Err(from_sqlite(&error)),
                    Err(_) => {}
                }
            }
            commands.push(ready);
        }
        Ok(Self { conn, commands, text: String::new() })
    }

    fn prepared(
        &mut self,
        stmt: StmtId,
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let ready = &mut self.commands[stmt.0 as usize];
        if ready.prepared.is_none() {
            let statement = self.conn.prepare(&ready.command.sql).map_err(|e| from_sqlite(&e))?;
            ready.prepared = Some(statement);
        }
        let statement = ready.prepared.as_mut().expect("made above");
        bind(statement, &ready.command.params, vars)?;
        step(self.conn, statement, keep)
    }

    fn simple(
        &mut self,
        stmt: StmtId,
        vars: &[Value],
        mut keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let command = self.commands[stmt.0 as usize].command;
        self.text.clear();
        command.write_text(vars, &mut self.text);
        let mut rows = 0;
        let mut batch = Batch::new(self.conn, &self.text);
        while let Some(mut statement) = batch.next().map_err(|e| from_sqlite(&e))? {
            rows += step(self.conn, &mut statement, keep.as_deref_mut())?;
        }
        Ok(rows)
    }
}

/// Runs the statements of a text one after the other; what they return is dropped.
pub(super) fn run(conn: &Connection, sql: &str) -> Result<(), DbError> {
    let mut batch = Batch::new(conn, sql);
    while let Some(mut statement) = batch.next().map_err(|error| from_sqlite(&error))? {
        step(conn, &mut statement, None)?;
    }
    Ok(())
}

impl Session for SqliteSession<'_> {
    async fn execute(
        &mut self,
        stmt: StmtId,
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let ready = &self.commands[stmt.0 as usize];
        match ready.protocol {
            Protocol::Prepared => self.prepared(stmt, vars, keep),
            Protocol::Simple => self.simple(stmt, vars, keep),
            Protocol::Extended => {
                let mut statement =
                    self.conn.prepare(&ready.command.sql).map_err(|e| from_sqlite(&e))?;
                bind(&mut statement, &ready.command.params, vars)?;
                step(self.conn, &mut statement, keep)
            }
        }
    }

    fn block(&self) -> Block {
        // SQLite has no failed blocks: a statement's error leaves its block open, or has ended it.
        if self.conn.is_autocommit() { Block::Idle } else { Block::Open }
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if self.conn.is_autocommit() {
            return Ok(());
        }
        self.conn.execute_batch("ROLLBACK").map_err(|error| from_sqlite(&error))
    }

    async fn close(self) {}
}

/// A variable as a parameter.
struct Bound<'v>(&'v Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            // pgbench sends NULL for a variable that never got a value.
            Value::Undefined | Value::Null => ValueRef::Null,
            Value::Bool(truth) => ValueRef::Integer((*truth).into()),
            Value::Int(int) => ValueRef::Integer(*int),
            Value::Double(double) => ValueRef::Real(*double),
            // A variable's text has no type until it is used; a key that came from `-D` or `\gset`
            // must find its row, and to SQLite the text '1' is not the integer 1.
            Value::Text(text) => match text.parse() {
                Ok(int) => ValueRef::Integer(int),
                Err(_) => ValueRef::Text(text.as_bytes()),
            },
        }))
    }
}

fn bind(statement: &mut Statement<'_>, params: &[Slot], vars: &[Value]) -> Result<(), DbError> {
    for (index, slot) in params.iter().enumerate() {
        statement
            .raw_bind_parameter(index + 1, Bound(&vars[slot.0 as usize]))
            .map_err(|error| from_sqlite(&error))?;
    }
    Ok(())
}

/// Runs a statement to its end. Returns the rows it returned, or else changed.
fn step(
    conn: &Connection,
    statement: &mut Statement<'_>,
    keep: Option<&mut Vec<Kept>>,
) -> Result<u64, DbError> {
    let columns = statement.column_count();
    let mut kept = keep.as_ref().map(|_| Kept {
        returns_rows: columns > 0,
        columns: statement.column_names().map(str::to_owned).collect(),
        ..Kept::default()
    });
    // `changes` keeps the number of the last INSERT, UPDATE or DELETE: it says nothing about others.
    let writes = columns == 0 && !statement.readonly();
    let before = if writes { conn.total_changes() } else { 0 };
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next().map_err(|error| from_sqlite(&error))? {
        count += 1;
        if let Some(kept) = &mut kept {
            kept.last.clear();
            for column in 0..columns {
                let value = row.get_ref(column).map_err(|error| from_sqlite(&error))?;
                kept.last.push(text_of(value));
            }
        }
    }
    drop(rows);
    if let (Some(keep), Some(mut kept)) = (keep, kept) {
        kept.rows = count;
        keep.push(kept);
    }
    if writes {
        count = conn.total_changes() - before;
    }
    Ok(count)
}

/// A cell as text; NULL is `None`.
pub(super) fn text_of(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(int) => Some(int.to_string()),
        ValueRef::Real(real) => Some(real.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
    }
}
