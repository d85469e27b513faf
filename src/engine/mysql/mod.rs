//! MySQL and MariaDB by mysql_async. Statements go in the binary protocol of prepared statements,
//! or as text; a row count is that of the rows that were found, as on the other engines.

mod admin;
pub(crate) mod connect;
mod error;
mod session;

#[cfg(test)]
mod tests;

use mysql_async::Conn;

use super::{Canceller, DbError, Engine};
use crate::plan::Protocol;
use crate::script::Dialect;
use crate::workload::Workload;
use admin::MySqlAdmin;
use connect::Connector;
use session::MySqlSession;

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
    /// Absent after the goodbye.
    conn: Option<Conn>,
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
        let conn = self.connector.connect().await?;
        Ok(MySqlConn { id: conn.id(), conn: Some(conn) })
    }

    fn canceller(&self, conn: &MySqlConn) -> MySqlCanceller {
        MySqlCanceller { connector: self.connector.clone(), id: conn.id }
    }

    async fn open<'c>(
        &'c self,
        conn: &'c mut MySqlConn,
        workload: &'c Workload,
        protocol: Protocol,
    ) -> Result<MySqlSession<'c>, DbError> {
        MySqlSession::open(&mut conn.conn, workload, protocol).await
    }

    async fn admin(&self) -> Result<MySqlAdmin, DbError> {
        Ok(MySqlAdmin::new(self.connector.connect().await?, self.connector.target().is_socket()))
    }
}
