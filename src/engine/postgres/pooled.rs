//! `--pool N`: clients that share a few connections, as the users of an application with a pool do.
//!
//! deadpool-postgres keeps the connections and tokio-postgres' client executes the statements, as in
//! such an application. To the runner this is an engine whose connections come out of the pool:
//! connecting is waiting for one, and closing a session gives it back.

use std::error::Error;
use std::sync::{Mutex, PoisonError};

use bytes::BytesMut;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod};
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Config, SimpleQueryMessage};

use super::admin::{AdminPool, PgAdmin, PoolConnector, from_backend};
use super::connect::Connector;
use super::error::from_driver;
use super::session::write_text;
use super::{PgCanceller, lost};
use crate::engine::{Block, DbError, Engine, ErrorKind, Kept, Preparing, Session};
use crate::plan::Protocol;
use crate::script::Dialect;
use crate::script::program::{Statement, StatementKind, StmtId};
use crate::script::value::Value;
use crate::workload::Workload;

/// A PostgreSQL server behind a pool.
pub(crate) struct PooledPostgres {
    connector: Connector,
    admins: AdminPool,
    size: u32,
    session_sql: Vec<String>,
    /// That of the level: its connections live in the worker that serves its clients.
    pool: Mutex<Option<Pool>>,
}

impl PooledPostgres {
    /// A server that `connector` reaches, with `size` connections, which begin with `session_sql`.
    pub(crate) fn new(connector: Connector, size: u32, session_sql: Vec<String>) -> Self {
        let admins = AdminPool::new(connector.clone());
        Self { connector, admins, size, session_sql, pool: Mutex::new(None) }
    }

    fn new_pool(&self) -> Pool {
        let connector = PoolConnector::new(self.connector.clone(), self.session_sql.clone());
        let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_connect(Config::new(), connector, config);
        let pool = Pool::builder(manager).max_size(self.size as usize).build();
        pool.expect("only a timeout wants more, and there is none")
    }

    fn pool(&self) -> Option<Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn take(pool: &Pool) -> Result<Object, DbError> {
    pool.get().await.map_err(|error| match error {
        PoolError::Backend(error) => from_backend(&error),
        error => DbError::new(ErrorKind::Connect, "", error.to_string()),
    })
}

/// Prepares the statements of a workload, for all sessions on this connection. What the server
/// refuses of a user's script is tried again when it is executed.
async fn prepare(client: &Object, workload: &Workload) -> Result<(), DbError> {
    for statement in &workload.statements {
        let script = &workload.scripts[statement.script as usize];
        match client.prepare_cached(&statement.sql).await.map_err(|error| from_driver(&error)) {
            Err(error) if script.source.is_embedded() || error.kind() == ErrorKind::Lost => {
                return Err(error);
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

impl Engine for PooledPostgres {
    const DIALECT: Dialect = Dialect::Postgres;
    const BLOCKING: bool = false;
    type Conn = Object;
    type Session<'c> = PooledSession<'c>;
    type Admin = PgAdmin;
    type Canceller = PgCanceller;

    /// Makes all connections, so that none is made within the window.
    async fn begin(&self, workload: &Workload, protocol: Protocol) -> Result<(), DbError> {
        let pool = self.new_pool();
        let mut all = Vec::new();
        for _ in 0..self.size {
            let client = take(&pool).await?;
            if protocol == Protocol::Prepared {
                prepare(&client, workload).await?;
            }
            all.push(client);
        }
        *self.pool.lock().unwrap_or_else(PoisonError::into_inner) = Some(pool);
        Ok(())
    }

    async fn connect(&self) -> Result<Object, DbError> {
        match self.pool() {
            Some(pool) => take(&pool).await,
            None => Err(lost(&std::io::ErrorKind::NotConnected.into())),
        }
    }

    fn canceller(&self, conn: &Object) -> PgCanceller {
        PgCanceller { connector: self.connector.clone(), token: conn.cancel_token() }
    }

    async fn set_up(&self, _conn: &mut Object, _sql: &str) -> Result<(), DbError> {
        // The pool has done it when it made the connection.
        Ok(())
    }

    async fn open<'c>(
        &'c self,
        conn: &'c mut Object,
        workload: &'c Workload,
        protocol: Protocol,
        _preparing: Preparing,
    ) -> Result<PooledSession<'c>, DbError> {
        let text = String::new();
        Ok(PooledSession { client: conn, workload, protocol, block: Block::Idle, text })
    }

    async fn admin(&self) -> Result<PgAdmin, DbError> {
        self.admins.admin().await
    }
}

/// A connection, lent for a transaction.
pub(crate) struct PooledSession<'c> {
    client: &'c Object,
    workload: &'c Workload,
    protocol: Protocol,
    /// Followed by the statements: the driver does not tell.
    block: Block,
    /// Text of the statement in simple protocol.
    text: String,
}

impl PooledSession<'_> {
    async fn prepared(&self, statement: &Statement, vars: &[Value]) -> Result<u64, DbError> {
        let execute = async {
            let prepared = self.client.prepare_cached(&statement.sql).await?;
            let values = statement.params.iter().map(|slot| Text(&vars[slot.0 as usize]));
            self.client.execute_raw(&prepared, values).await
        };
        execute.await.map_err(|error| from_driver(&error))
    }

    async fn simple(
        &mut self,
        statement: &Statement,
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        self.text.clear();
        statement.write_text(vars, &mut self.text);
        let messages = self.client.simple_query(&self.text).await;
        let mut kept = Kept::default();
        for message in messages.map_err(|error| from_driver(&error))? {
            match message {
                SimpleQueryMessage::Row(row) => {
                    kept.last = (0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect();
                }
                SimpleQueryMessage::RowDescription(columns) => {
                    kept.returns_rows = true;
                    kept.columns = columns.iter().map(|column| column.name().to_owned()).collect();
                }
                SimpleQueryMessage::CommandComplete(rows) => kept.rows = rows,
                _ => {}
            }
        }
        let rows = kept.rows;
        if let Some(keep) = keep {
            keep.push(kept);
        }
        Ok(rows)
    }
}

impl Session for PooledSession<'_> {
    async fn execute(
        &mut self,
        stmt: StmtId,
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let statement = &self.workload.statements[stmt.0 as usize];
        let done = match self.protocol {
            Protocol::Simple => self.simple(statement, vars, keep).await,
            Protocol::Extended | Protocol::Prepared => self.prepared(statement, vars).await,
        };
        self.block = match (self.block, &done, statement.kind) {
            (Block::Idle, Err(_), _) => Block::Idle,
            (_, Err(_), _) => Block::Failed,
            (_, Ok(_), StatementKind::Begin) => Block::Open,
            (_, Ok(_), StatementKind::Commit | StatementKind::Rollback) => Block::Idle,
            (block, Ok(_), _) => block,
        };
        done
    }

    fn block(&self) -> Block {
        self.block
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        if self.block != Block::Idle {
            let done = self.client.batch_execute("ROLLBACK").await;
            done.map_err(|error| from_driver(&error))?;
            self.block = Block::Idle;
        }
        Ok(())
    }

    async fn close(self) {}
}

/// A variable as a parameter: its text, to which the server gives the type that it inferred.
#[derive(Debug)]
struct Text<'v>(&'v Value);

impl ToSql for Text<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        Ok(match self.0 {
            Value::Undefined | Value::Null => IsNull::Yes,
            value => {
                write_text(value, out);
                IsNull::No
            }
        })
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}
