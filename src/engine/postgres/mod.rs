//! PostgreSQL: connections by tokio-postgres, measured statements by frames of our own on the
//! stream that its login leaves behind.

pub(crate) mod admin;
pub(crate) mod connect;
pub(crate) mod error;
mod pooled;
mod session;
pub(crate) mod stream;
mod tls;
mod wire;

#[cfg(test)]
mod tests;

use tokio_postgres::CancelToken;

use super::{Canceller, DbError, Engine, Preparing};
use crate::plan::Protocol;
use crate::script::Dialect;
use crate::workload::Workload;
pub(crate) use pooled::PooledPostgres;

use admin::{AdminPool, PgAdmin};
use connect::Connector;
use error::lost;
use session::PgSession;
use stream::PgStream;
use wire::Wire;

/// A PostgreSQL server.
pub(crate) struct Postgres {
    connector: Connector,
    admins: AdminPool,
}

impl Postgres {
    /// A server that `connector` reaches.
    pub(crate) fn new(connector: Connector) -> Self {
        Self { admins: AdminPool::new(connector.clone()), connector }
    }
}

/// A client's connection.
pub(crate) struct PgConn {
    wire: Wire<PgStream>,
    cancel: CancelToken,
}

/// Cancels what a connection does, by the server's own cancel request.
pub(crate) struct PgCanceller {
    connector: Connector,
    token: CancelToken,
}

impl Canceller for PgCanceller {
    async fn cancel(&self) {
        self.connector.cancel(&self.token).await;
    }
}

impl Engine for Postgres {
    const DIALECT: Dialect = Dialect::Postgres;
    const BLOCKING: bool = false;
    type Conn = PgConn;
    type Session<'c> = PgSession<'c>;
    type Admin = PgAdmin;
    type Canceller = PgCanceller;

    async fn connect(&self) -> Result<PgConn, DbError> {
        let connected = self.connector.connect().await?;
        let wire = Wire::new(connected.stream, &connected.unread);
        Ok(PgConn { wire, cancel: connected.cancel })
    }

    async fn connect_alone(&self) -> Result<PgConn, DbError> {
        let connected = self.connector.connect().await?;
        let stream = connected.stream.alone().map_err(|error| lost(&error))?;
        let wire = Wire::new(stream, &connected.unread);
        Ok(PgConn { wire, cancel: connected.cancel })
    }

    fn canceller(&self, conn: &PgConn) -> PgCanceller {
        PgCanceller { connector: self.connector.clone(), token: conn.cancel.clone() }
    }

    async fn set_up(&self, conn: &mut PgConn, sql: &str) -> Result<(), DbError> {
        conn.wire.query(sql).await
    }

    async fn open<'c>(
        &'c self,
        conn: &'c mut PgConn,
        workload: &'c Workload,
        protocol: Protocol,
        preparing: Preparing,
    ) -> Result<PgSession<'c>, DbError> {
        PgSession::open(&mut conn.wire, workload, protocol, preparing).await
    }

    async fn admin(&self) -> Result<PgAdmin, DbError> {
        self.admins.admin().await
    }
}
