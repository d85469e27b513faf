//! A PostgreSQL client's session: a workload's statements over the wire, one round trip each.
//!
//! Parameters travel as text, so that the server gives them the type it inferred, whatever that
//! is; their values are those of the client's variables.

use std::fmt;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use super::error::unsendable;
use super::stream::PgStream;
use super::wire::Wire;
use crate::engine::{Block, DbError, ErrorKind, Kept, PipelineStep, Preparing, Session};
use crate::plan::Protocol;
use crate::script::program::{Slot, Statement, StmtId};
use crate::script::value::Value;
use crate::workload::Workload;

/// A pipeline is sent on in pieces of so many bytes.
const PIPELINE_BYTES: usize = 8 * 1024;

/// A connection with a workload's statements ready.
pub(crate) struct PgSession<'c> {
    wire: &'c mut Wire<PgStream>,
    workload: &'c Workload,
    protocol: Protocol,
    /// Syncs of the open pipeline whose replies are still to be read; nothing outside a pipeline.
    pipeline: Option<u32>,
    /// Name of each prepared statement; empty while it is not prepared.
    prepared: Vec<String>,
    /// Text of the statement in simple protocol, re-used.
    text: String,
}

impl<'c> PgSession<'c> {
    /// Prepares the statements where the protocol is `prepared`. A built-in script's statement
    /// that the server refuses is an error; a user's is prepared again when it is executed.
    pub(crate) async fn open(
        wire: &'c mut Wire<PgStream>,
        workload: &'c Workload,
        protocol: Protocol,
        preparing: Preparing,
    ) -> Result<Self, DbError> {
        let prepared = vec![String::new(); workload.statements.len()];
        let mut session =
            Self { wire, workload, protocol, pipeline: None, prepared, text: String::new() };
        if protocol == Protocol::Prepared && preparing == Preparing::AtStart {
            for index in 0..workload.statements.len() {
                let script = &workload.scripts[workload.statements[index].script as usize];
                match session.prepare(index).await {
                    Err(error)
                        if script.source.is_embedded() || error.kind() == ErrorKind::Lost =>
                    {
                        return Err(error);
                    }
                    // A user's statement gets another chance when it is executed.
                    Ok(()) | Err(_) => {}
                }
            }
        }
        Ok(session)
    }

    /// Prepares what is not prepared yet.
    async fn prepare_all(&mut self) -> Result<(), DbError> {
        for index in 0..self.prepared.len() {
            if self.prepared[index].is_empty() {
                self.prepare(index).await?;
            }
        }
        Ok(())
    }

    /// Reads the replies to everything that was sent: the rows of each statement. The first error is
    /// the pipeline's.
    async fn end_pipeline(&mut self, rows: &mut Vec<u64>) -> Result<(), DbError> {
        let Some(syncs) = self.pipeline.take() else { return Ok(()) };
        frontend::sync(&mut self.wire.out);
        self.wire.send().await?;
        let mut first = Ok(());
        for _ in 0..=syncs {
            match self.wire.reply(false, None, Some(rows)).await {
                Err(error) if error.kind() == ErrorKind::Lost => return Err(error),
                Err(error) if first.is_ok() => first = Err(error),
                _ => {}
            }
        }
        first
    }

    async fn prepare(&mut self, index: usize) -> Result<(), DbError> {
        let name = format!("P_{}", index + 1);
        frontend::parse(&name, &self.workload.statements[index].sql, [], &mut self.wire.out)
            .map_err(|error| unsendable(&error))?;
        frontend::sync(&mut self.wire.out);
        self.wire.round_trip(None).await?;
        self.prepared[index] = name;
        Ok(())
    }

    fn encode(&mut self, index: usize, vars: &[Value], describe: bool) -> Result<(), DbError> {
        match self.protocol {
            Protocol::Simple => self.encode_simple(index, vars),
            Protocol::Extended => {
                let sql = &statement(self.workload, index).sql;
                frontend::parse("", sql, [], &mut self.wire.out)
                    .map_err(|error| unsendable(&error))?;
                self.encode_execution(index, vars, describe)
            }
            Protocol::Prepared => self.encode_execution(index, vars, describe),
        }
    }

    /// Bind and Execute of statement `name`, and a Describe where the columns' names are wanted.
    fn encode_execution(
        &mut self,
        index: usize,
        vars: &[Value],
        describe: bool,
    ) -> Result<(), DbError> {
        let wire = &mut *self.wire;
        let (workload, prepared) = (self.workload, &self.prepared);
        let params = &workload.statements[index].params;
        frontend::bind(
            "",
            &prepared[index],
            [], // all parameters as text
            params.iter(),
            |slot: &Slot, out| match &vars[slot.0 as usize] {
                Value::Undefined | Value::Null => Ok(IsNull::Yes),
                value => {
                    write_text(value, out);
                    Ok(IsNull::No)
                }
            },
            [], // all results as text
            &mut wire.out,
        )
        .map_err(|_| {
            DbError::new(
                ErrorKind::Other,
                "",
                format!(
                    "a parameter or statement is too long to send: {} parameters",
                    params.len()
                ),
            )
        })?;
        if describe {
            frontend::describe(b'P', "", &mut wire.out).map_err(|error| unsendable(&error))?;
        }
        frontend::execute("", 0, &mut wire.out).map_err(|error| unsendable(&error))?;
        if self.pipeline.is_none() {
            frontend::sync(&mut wire.out);
        }
        Ok(())
    }

    fn encode_simple(&mut self, index: usize, vars: &[Value]) -> Result<(), DbError> {
        self.text.clear();
        statement(self.workload, index).write_text(vars, &mut self.text);
        frontend::query(&self.text, &mut self.wire.out).map_err(|error| unsendable(&error))
    }
}

impl Session for PgSession<'_> {
    async fn execute(
        &mut self,
        stmt: StmtId,
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let index = stmt.0 as usize;
        if self.protocol == Protocol::Prepared && self.prepared[index].is_empty() {
            self.prepare(index).await?;
        }
        let before = self.wire.out.len();
        if let Err(error) = self.encode(index, vars, keep.is_some()) {
            // Half a message would break the protocol.
            self.wire.out.truncate(before);
            return Err(error);
        }
        if self.pipeline.is_some() {
            if self.wire.out.len() >= PIPELINE_BYTES {
                self.wire.send().await?;
            }
            return Ok(0);
        }
        self.wire.round_trip(keep).await
    }

    async fn pipeline(&mut self, step: PipelineStep, rows: &mut Vec<u64>) -> Result<(), DbError> {
        match (step, self.pipeline) {
            (PipelineStep::Start, None) if self.protocol == Protocol::Simple => {
                Err(misused("\\startpipeline: there are no pipelines in simple protocol"))
            }
            (PipelineStep::Start, None) => {
                // A statement cannot be prepared once the pipeline is open.
                if self.protocol == Protocol::Prepared {
                    self.prepare_all().await?;
                }
                self.pipeline = Some(0);
                Ok(())
            }
            (PipelineStep::Start, Some(_)) => {
                Err(misused("\\startpipeline: a pipeline is open already"))
            }
            (PipelineStep::Sync, Some(syncs)) => {
                frontend::sync(&mut self.wire.out);
                self.pipeline = Some(syncs + 1);
                self.wire.send().await
            }
            (PipelineStep::Sync, None) => Err(misused("\\syncpipeline: no pipeline is open")),
            (PipelineStep::End, Some(_)) => self.end_pipeline(rows).await,
            (PipelineStep::End, None) => Err(misused("\\endpipeline: no pipeline is open")),
        }
    }

    fn in_pipeline(&self) -> bool {
        self.pipeline.is_some()
    }

    fn block(&self) -> Block {
        self.wire.block()
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if self.pipeline.is_some() {
            match self.end_pipeline(&mut Vec::new()).await {
                Err(error) if error.kind() == ErrorKind::Lost => return Err(error),
                // The failures of statements that were under way are the reason for all this.
                _ => {}
            }
        }
        if self.wire.block() == Block::Idle {
            return Ok(());
        }
        self.wire.query("ROLLBACK").await
    }

    async fn close(self) {
        self.wire.terminate().await;
    }
}

/// Writing to a buffer in memory cannot fail.
fn write_display(value: &Value, out: &mut impl fmt::Write) {
    let _ = write!(out, "{value}");
}

/// The text that the server converts to the parameter's type.
pub(super) fn write_text(value: &Value, out: &mut BytesMut) {
    match value {
        Value::Int(value) => out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes()),
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        value => write_display(value, out),
    }
}

fn statement(workload: &Workload, index: usize) -> &Statement {
    &workload.statements[index]
}

fn misused(text: &str) -> DbError {
    DbError::new(ErrorKind::Other, "script", text)
}
