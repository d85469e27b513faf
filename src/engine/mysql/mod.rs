//! MySQL and MariaDB: loading and administration by mysql_async, measured statements by packets of
//! our own over its codec, `mysql_common`. Statements go in the binary protocol of prepared
//! statements, or as text; a row count is that of the rows that were found, as on the other engines.

mod admin;
pub(crate) mod connect;
mod error;
mod login;
mod session;
mod wire;

#[cfg(test)]
mod tests;

use super::{Canceller, DbError, Engine, Preparing};
use crate::plan::Protocol;
use crate::script::Dialect;
use crate::workload::Workload;
use admin::MySqlAdmin;
use connect::Connector;
use login::{LoggedIn, Waiting};
use session::MySqlSession;
use wire::Wire;

/// A MySQL or MariaDB server.
pub(crate) struct MySql {
    connector: Connector,
}

impl MySql {
    /// A server that `connector` reaches.
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector }
    }
}

/// A client's connection.
pub(crate) struct MySqlConn {
    wire: Wire,
    id: u32,
}

/// Cancels what a connection does: another connection asks the server to.
pub(crate) struct MySqlCanceller {
    connector: Connector,
    id: u32,
}

impl Canceller for MySqlCanceller {
    async fn cancel(&self) {
        self.connector.cancel(self.id).await;
    }
}

impl Engine for MySql {
    const DIALECT: Dialect = Dialect::Mysql;
    const BLOCKING: bool = false;
    type Conn = MySqlConn;
    type Session<'c> = MySqlSession<'c>;
    type Admin = MySqlAdmin;
    type Canceller = MySqlCanceller;

    async fn connect(&self) -> Result<MySqlConn, DbError> {
        let LoggedIn { wire, id } = self.connector.log_in(Waiting::Together).await?;
        Ok(MySqlConn { wire, id })
    }

    async fn connect_alone(&self) -> Result<MySqlConn, DbError> {
        let LoggedIn { wire, id } = self.connector.log_in(Waiting::Alone).await?;
        Ok(MySqlConn { wire, id })
    }

    fn canceller(&self, conn: &MySqlConn) -> MySqlCanceller {
        MySqlCanceller { connector: self.connector.clone(), id: conn.id }
    }

    async fn set_up(&self, conn: &mut MySqlConn, sql: &str) -> Result<(), DbError> {
        conn.wire.query(sql, None).await.map(drop)
    }

    async fn open<'c>(
        &'c self,
        conn: &'c mut MySqlConn,
        workload: &'c Workload,
        protocol: Protocol,
        preparing: Preparing,
    ) -> Result<MySqlSession<'c>, DbError> {
        MySqlSession::open(&mut conn.wire, workload, protocol, preparing).await
    }

    async fn admin(&self) -> Result<MySqlAdmin, DbError> {
        Ok(MySqlAdmin::new(self.connector.connect().await?, self.connector.target().is_socket()))
    }
}
