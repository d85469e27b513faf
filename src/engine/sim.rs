//! A fake database with exact answers, for tests: what a statement takes and how it ends is a
//! function of its number and of the clock. In a paused runtime whole runs pass in virtual time.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::{
    Admin, Block, Canceller, DbError, Engine, ErrorKind, Kept, Preparing, ServerFacts, Session,
};
use crate::plan::Protocol;
use crate::schema::TableRows;
use crate::script::Dialect;
use crate::script::program::{StatementKind, StmtId};
use crate::script::value::Value;
use crate::workload::Workload;

/// One execution of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    /// Number of the connection, in the order of connecting.
    pub(crate) conn: u32,
    /// Number of the execution on this connection, from 0.
    pub(crate) number: u64,
    pub(crate) stmt: StmtId,
    /// Since the engine was made.
    pub(crate) at: Duration,
}

/// The number of what is no statement of the workload: connecting, and session SQL.
pub(crate) const SET_UP: StmtId = StmtId(u32::MAX);

/// What a statement does.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) takes: Duration,
    pub(crate) result: Result<u64, DbError>,
}

/// The fake database.
pub(crate) struct Sim<F> {
    answer: F,
    /// What becomes of a connection.
    connect: fn(Call) -> Answer,
    began: Instant,
    connections: AtomicU32,
}

impl<F: Fn(Call) -> Answer + Send + Sync + 'static> Sim<F> {
    /// A database that answers as `answer` says.
    pub(crate) fn new(answer: F) -> Arc<Self> {
        Self::connecting(|_| Answer { takes: Duration::ZERO, result: Ok(0) }, answer)
    }

    /// The same, whose connections are made, or refused, as `connect` says.
    pub(crate) fn connecting(connect: fn(Call) -> Answer, answer: F) -> Arc<Self> {
        let connections = AtomicU32::new(0);
        Arc::new(Self { answer, connect, began: Instant::now(), connections })
    }
}

/// A connection, and the session on it.
pub(crate) struct SimConn {
    number: u32,
    calls: u64,
    block: Block,
}

/// A session.
pub(crate) struct SimSession<'c, F> {
    sim: &'c Sim<F>,
    conn: &'c mut SimConn,
    workload: &'c Workload,
}

/// Nothing to cancel: answers come when they come.
pub(crate) struct SimCanceller;

impl Canceller for SimCanceller {
    async fn cancel(&self) {}
}

/// There are no tables.
pub(crate) struct SimAdmin;

impl Admin for SimAdmin {
    async fn batch(&mut self, _sql: &str) -> Result<(), DbError> {
        Err(no_tables())
    }

    async fn rows(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        Err(no_tables())
    }

    async fn load(
        &mut self,
        _table: &TableRows,
        _range: Range<u64>,
        _done: &dyn Fn(u64),
    ) -> Result<(), DbError> {
        Err(no_tables())
    }

    async fn claim(&mut self) -> Result<bool, DbError> {
        Err(no_tables())
    }

    async fn release(&mut self) {}

    async fn facts(&mut self) -> Result<ServerFacts, DbError> {
        Err(no_tables())
    }
}

fn no_tables() -> DbError {
    DbError::new(ErrorKind::Other, "", "the simulated database has no tables")
}

impl<F: Fn(Call) -> Answer + Send + Sync + 'static> Engine for Sim<F> {
    const DIALECT: Dialect = Dialect::Postgres;
    const BLOCKING: bool = false;
    type Conn = SimConn;
    type Session<'c> = SimSession<'c, F>;
    type Admin = SimAdmin;
    type Canceller = SimCanceller;

    async fn connect(&self) -> Result<SimConn, DbError> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        let at = self.began.elapsed();
        let answer = (self.connect)(Call { conn: number, number: 0, stmt: SET_UP, at });
        if !answer.takes.is_zero() {
            tokio::time::sleep(answer.takes).await;
        }
        answer.result?;
        Ok(SimConn { number, calls: 0, block: Block::Idle })
    }

    fn canceller(&self, _conn: &SimConn) -> SimCanceller {
        SimCanceller
    }

    async fn set_up(&self, conn: &mut SimConn, _sql: &str) -> Result<(), DbError> {
        let at = self.began.elapsed();
        let call = Call { conn: conn.number, number: conn.calls, stmt: SET_UP, at };
        let answer = (self.answer)(call);
        tokio::time::sleep(answer.takes).await;
        answer.result.map(drop)
    }

    async fn open<'c>(
        &'c self,
        conn: &'c mut SimConn,
        workload: &'c Workload,
        _protocol: Protocol,
        _preparing: Preparing,
    ) -> Result<SimSession<'c, F>, DbError> {
        Ok(SimSession { sim: self, conn, workload })
    }

    async fn admin(&self) -> Result<SimAdmin, DbError> {
        Ok(SimAdmin)
    }
}

impl<F: Fn(Call) -> Answer + Send + Sync + 'static> Session for SimSession<'_, F> {
    async fn execute(
        &mut self,
        stmt: StmtId,
        _vars: &[Value],
        _keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let at = self.sim.began.elapsed();
        let call = Call { conn: self.conn.number, number: self.conn.calls, stmt, at };
        let answer = (self.sim.answer)(call);
        self.conn.calls += 1;
        if !answer.takes.is_zero() {
            tokio::time::sleep(answer.takes).await;
        }
        self.conn.block = match (self.conn.block, &answer.result) {
            (Block::Open, Err(_)) => Block::Failed,
            (block, Err(_)) => block,
            (block, Ok(_)) => match self.workload.statements[stmt.0 as usize].kind {
                StatementKind::Begin => Block::Open,
                StatementKind::Commit | StatementKind::Rollback => Block::Idle,
                _ => block,
            },
        };
        answer.result
    }

    fn block(&self) -> Block {
        self.conn.block
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        self.conn.block = Block::Idle;
        Ok(())
    }

    async fn close(self) {}
}
