//! A MySQL client's session: a workload's statements, prepared once and executed by number.
//!
//! The transaction block is followed by the flag that the server sends with every success. An error
//! carries no flags, so after one inside a block the block counts as open until a rollback: the
//! server may have undone all of it (a deadlock) or one statement only (a lock wait timeout).

use mysql_common::row::Row;
use mysql_common::value::Value as Cell;

use super::error::NOT_PREPARABLE;
use super::wire::{Prepared, Wire};
use crate::engine::{Block, DbError, ErrorKind, Kept, Preparing, Session};
use crate::plan::Protocol;
use crate::script::program::{Statement as Command, StmtId};
use crate::script::value::Value;
use crate::workload::Workload;

/// A connection with its statements ready.
pub(crate) struct MySqlSession<'c> {
    wire: &'c mut Wire,
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
        wire: &'c mut Wire,
        workload: &'c Workload,
        protocol: Protocol,
        preparing: Preparing,
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
        let block = if wire.is_in_transaction() { Block::Open } else { Block::Idle };
        let mut session = Self { wire, commands, block, text: String::new() };
        if preparing == Preparing::AtFirstUse {
            return Ok(session);
        }
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
        match prepare(self.wire, ready.command).await {
            Ok(prepared) => ready.how = How::Prepared(Some(prepared)),
            Err(error) if error.code() == NOT_PREPARABLE => ready.how = How::Simple,
            Err(error) => return Err(error),
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
        let Ready { command, how } = &self.commands[index];
        let wire = &mut *self.wire;
        match how {
            How::Prepared(Some(prepared)) => {
                wire.execute(*prepared, &command.params, vars, keep).await
            }
            How::Extended => match prepare(wire, command).await {
                Ok(prepared) => {
                    let done = wire.execute(prepared, &command.params, vars, keep).await;
                    match wire.forget(prepared).await {
                        Err(error) if done.is_ok() => Err(error),
                        _ => done,
                    }
                }
                Err(error) if error.code() == NOT_PREPARABLE => {
                    query(wire, command, vars, &mut self.text, keep).await
                }
                Err(error) => Err(error),
            },
            How::Simple | How::Prepared(None) => {
                query(wire, command, vars, &mut self.text, keep).await
            }
        }
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
            Ok(_) if self.wire.is_in_transaction() => Block::Open,
            Ok(_) => Block::Idle,
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
        self.wire.query("ROLLBACK", None).await?;
        self.block = Block::Idle;
        Ok(())
    }

    async fn close(self) {
        self.wire.quit().await;
    }
}

async fn prepare(wire: &mut Wire, command: &Command) -> Result<Prepared, DbError> {
    let prepared = wire.prepare(&command.sql).await?;
    let (known, found) = (command.params.len(), usize::from(prepared.params));
    if known != found {
        // Values would be sent for other placeholders than the server has.
        let text = format!("the server found {found} placeholders in a statement with {known}");
        return Err(DbError::new(ErrorKind::Other, "", text));
    }
    Ok(prepared)
}

async fn query(
    wire: &mut Wire,
    command: &Command,
    vars: &[Value],
    text: &mut String,
    keep: Option<&mut Vec<Kept>>,
) -> Result<u64, DbError> {
    text.clear();
    command.write_text(vars, text);
    wire.query(text, keep).await
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
