//! A MySQL client's session: a workload's statements, prepared once and executed by number.
//!
//! The transaction block is followed by the flag that the server sends with every success. An error
//! carries no flags, so after one inside a block the block counts as open until a rollback: the
//! server may have undone all of it (a deadlock) or one statement only (a lock wait timeout).

use mysql_async::consts::StatusFlags;
use mysql_async::prelude::{Protocol as Wire, Queryable};
use mysql_async::{Conn, Params, QueryResult, Row, Statement as Prepared, Value as Cell};

use super::error::{NOT_PREPARABLE, closed, from_driver};
use crate::engine::{Block, DbError, ErrorKind, Kept, Session};
use crate::plan::Protocol;
use crate::script::program::{Statement as Command, StmtId};
use crate::script::value::Value;
use crate::workload::Workload;

/// A connection with its statements ready.
pub(crate) struct MySqlSession<'c> {
    conn: &'c mut Option<Conn>,
    commands: Vec<Ready<'c>>,
    block: Block,
    /// Text of a command in simple protocol, its space used again.
    text: String,
}

/// A command of the workload.
struct Ready<'c> {
    command: &'c Command,
    how: How,
}

/// How a command is sent.
enum How {
    /// Prepared once; absent while it is not.
    Prepared(Option<Prepared>),
    /// Prepared each time.
    Extended,
    /// As text.
    Simple,
}

impl<'c> MySqlSession<'c> {
    /// Prepares the statements where the protocol is `prepared`. A built-in script's statement
    /// that the server refuses is an error; a user's is prepared again when it is executed.
    pub(super) async fn open(
        conn: &'c mut Option<Conn>,
        workload: &'c Workload,
        protocol: Protocol,
    ) -> Result<Self, DbError> {
        let mut commands = Vec::with_capacity(workload.statements.len());
        for command in &workload.statements {
            let script = &workload.scripts[command.script as usize];
            let how = match protocol {
                _ if script.not_preparable.is_some() => How::Simple,
                Protocol::Simple => How::Simple,
                Protocol::Extended => How::Extended,
                Protocol::Prepared => How::Prepared(None),
            };
            commands.push(Ready { command, how });
        }
        let mut session = Self { conn, commands, block: Block::Idle, text: String::new() };
        for index in 0..session.commands.len() {
            let How::Prepared(_) = session.commands[index].how else { continue };
            let script = &workload.scripts[session.commands[index].command.script as usize];
            match session.prepare(index).await {
                Err(error) if script.source.is_embedded() || error.kind() == ErrorKind::Lost => {
                    return Err(error);
                }
                // A user's statement gets another chance when it is executed.
                Ok(()) | Err(_) => {}
            }
        }
        Ok(session)
    }

    /// Makes a command ready. What the server never prepares, as MySQL's START TRANSACTION, goes as
    /// text from then on.
    async fn prepare(&mut self, index: usize) -> Result<(), DbError> {
        let ready = &mut self.commands[index];
        let conn = self.conn.as_mut().ok_or_else(closed)?;
        match conn.prep(ready.command.sql.as_str()).await {
            Ok(prepared) => ready.how = How::Prepared(Some(prepared)),
            Err(error) if is_not_preparable(&error) => ready.how = How::Simple,
            Err(error) => return Err(from_driver(&error)),
        }
        Ok(())
    }

    async fn send(
        &mut self,
        index: usize,
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        if matches!(self.commands[index].how, How::Prepared(None)) {
            self.prepare(index).await?;
        }
        let conn = self.conn.as_mut().ok_or_else(closed)?;
        let ready = &self.commands[index];
        let done = match &ready.how {
            How::Prepared(Some(prepared)) => {
                execute(conn, prepared, params(ready.command, vars), keep).await
            }
            How::Extended => match conn.prep(ready.command.sql.as_str()).await {
                Ok(prepared) => {
                    let done = execute(conn, &prepared, params(ready.command, vars), keep).await;
                    let closed = conn.close(prepared).await;
                    done.and_then(|rows| closed.map(|()| rows))
                }
                Err(error) if is_not_preparable(&error) => {
                    query(conn, ready.command, vars, &mut self.text, keep).await
                }
                Err(error) => Err(error),
            },
            How::Simple | How::Prepared(None) => {
                query(conn, ready.command, vars, &mut self.text, keep).await
            }
        };
        done.map_err(|error| from_driver(&error))
    }
}

impl Session for MySqlSession<'_> {
    async fn execute(
        &mut self,
        stmt: StmtId,
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let index = stmt.0 as usize;
        let done = self.send(index, vars, keep).await;
        self.block = match &done {
            Ok(_) => block_of(self.conn.as_ref()),
            // The statements before the one that failed may have opened a block.
            Err(_) if self.commands[index].command.statements > 1 => Block::Open,
            Err(_) => self.block,
        };
        done
    }

    fn block(&self) -> Block {
        self.block
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if self.block == Block::Idle {
            return Ok(());
        }
        let conn = self.conn.as_mut().ok_or_else(closed)?;
        conn.query_drop("ROLLBACK").await.map_err(|error| from_driver(&error))?;
        self.block = Block::Idle;
        Ok(())
    }

    async fn close(self) {
        if let Some(conn) = self.conn.take() {
            // The server notices a closed socket as well.
            let _ = conn.disconnect().await;
        }
    }
}

fn is_not_preparable(error: &mysql_async::Error) -> bool {
    matches!(error, mysql_async::Error::Server(error) if error.code == NOT_PREPARABLE)
}

fn block_of(conn: Option<&Conn>) -> Block {
    let status = conn.and_then(Conn::last_ok_packet).map(|packet| packet.status_flags());
    match status {
        Some(status) if status.contains(StatusFlags::SERVER_STATUS_IN_TRANS) => Block::Open,
        _ => Block::Idle,
    }
}

/// The variables as parameters. Text stays text, whatever it holds: the server compares it with a
/// number as a number, and with a text column by its index.
fn params(command: &Command, vars: &[Value]) -> Params {
    let value = |value: &Value| match value {
        Value::Undefined | Value::Null => Cell::NULL,
        Value::Bool(truth) => Cell::Int((*truth).into()),
        Value::Int(int) => Cell::Int(*int),
        Value::Double(double) => Cell::Double(*double),
        Value::Text(text) => Cell::Bytes(text.as_bytes().to_vec()),
    };
    match command.params.len() {
        0 => Params::Empty,
        _ => {
            let values = command.params.iter().map(|slot| value(&vars[slot.0 as usize]));
            Params::Positional(values.collect())
        }
    }
}

async fn execute(
    conn: &mut Conn,
    prepared: &Prepared,
    params: Params,
    keep: Option<&mut Vec<Kept>>,
) -> mysql_async::Result<u64> {
    let result = conn.exec_iter(prepared, params).await?;
    consume(result, keep).await
}

async fn query(
    conn: &mut Conn,
    command: &Command,
    vars: &[Value],
    text: &mut String,
    keep: Option<&mut Vec<Kept>>,
) -> mysql_async::Result<u64> {
    text.clear();
    command.write_text(vars, text);
    let result = conn.query_iter(text.as_str()).await?;
    consume(result, keep).await
}

/// Reads a reply to its end. Returns the rows returned or found by the last statement.
async fn consume<P: Wire>(
    mut result: QueryResult<'_, 'static, P>,
    mut keep: Option<&mut Vec<Kept>>,
) -> mysql_async::Result<u64> {
    let mut rows = 0;
    loop {
        let Some(columns) = result.columns() else {
            // Nothing more, or the error of a later statement.
            result.next().await?;
            return Ok(rows);
        };
        let mut last = None;
        if columns.is_empty() {
            rows = result.affected_rows();
            result.next().await?;
        } else {
            rows = 0;
            while let Some(row) = result.next().await? {
                rows += 1;
                if keep.is_some() {
                    last = Some(row);
                }
            }
        }
        if let Some(keep) = keep.as_deref_mut() {
            keep.push(Kept {
                rows: if columns.is_empty() { 0 } else { rows },
                returns_rows: !columns.is_empty(),
                columns: columns.iter().map(|column| column.name_str().into_owned()).collect(),
                last: last.map(cells).unwrap_or_default(),
            });
        }
    }
}

/// A row as text; NULL is `None`.
pub(super) fn cells(row: Row) -> Vec<Option<String>> {
    row.unwrap().into_iter().map(text_of).collect()
}

fn text_of(cell: Cell) -> Option<String> {
    Some(match cell {
        Cell::NULL => return None,
        Cell::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Cell::Int(int) => int.to_string(),
        Cell::UInt(int) => int.to_string(),
        Cell::Float(float) => float.to_string(),
        Cell::Double(double) => double.to_string(),
        // As the server writes it, but for the quotes of a literal.
        cell @ (Cell::Date(..) | Cell::Time(..)) => cell.as_sql(true).trim_matches('\'').to_owned(),
    })
}
