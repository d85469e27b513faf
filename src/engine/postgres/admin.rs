//! Everything on a PostgreSQL server that is not measured: schema, loading, facts.
//!
//! Plain tokio-postgres over a pool, so that the connections of one step serve the next.

use std::fmt;
use std::io;
use std::ops::Range;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use deadpool_postgres::{
    Connect, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, TimeoutType,
};
use futures_util::SinkExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::connect::Connector;
use super::error::from_driver;
use crate::engine::monitor::{MonitorQuery, Reading};
use crate::engine::tab_text::TabText;
use crate::engine::{Admin, DbError, ErrorKind, ServerFacts};
use crate::schema::TableRows;

/// One row about the server.
const FACTS: &str = include_str!("../../../sql/admin/postgres/facts.sql");
/// Sets the server's counters to zero.
const RESET_STATISTICS: &str = include_str!("../../../sql/admin/postgres/reset_statistics.sql");
/// Settings that can change the figures.
const SETTINGS: &str = include_str!("../../../sql/admin/postgres/settings.sql");

/// Connections of the pool; more than the loading streams of any sensible `--jobs`.
const POOL_CONNECTIONS: usize = 1024;
/// How long to wait for a connection when all are in use.
const POOL_WAIT: Duration = Duration::from_secs(60);
/// Leaves nothing of the one who had the connection before: an interrupted load its transaction.
const RECYCLE: &str = "ROLLBACK; RESET ALL; SELECT pg_advisory_unlock_all()";
/// What a load claims: dbload's number ("dblo" in ASCII), and the schema that its tables are in.
const CLAIM: &str = "1684171887, hashtext(current_schema())";

/// Connections for administration to one target; cloned cheaply.
#[derive(Clone)]
pub(crate) struct AdminPool(Pool);

impl AdminPool {
    /// A pool without connections yet.
    pub(crate) fn new(connector: Connector) -> Self {
        let config = ManagerConfig { recycling_method: RecyclingMethod::Custom(RECYCLE.into()) };
        let connector = PoolConnector::new(connector, Vec::new());
        let manager = Manager::from_connect(Config::new(), connector, config);
        let pool = Pool::builder(manager)
            .max_size(POOL_CONNECTIONS)
            .wait_timeout(Some(POOL_WAIT))
            .runtime(Runtime::Tokio1)
            .build();
        Self(pool.expect("a timeout only wants a runtime, and there is one"))
    }

    /// A connection: one that was given back, or a new one. Its task runs on the runtime that made
    /// it; a connection whose runtime has ended is replaced.
    pub(crate) async fn admin(&self) -> Result<PgAdmin, DbError> {
        match self.0.get().await {
            Ok(client) => Ok(PgAdmin { client: Some(client), monitor: None }),
            Err(PoolError::Backend(error)) => Err(from_backend(&error)),
            Err(PoolError::Timeout(TimeoutType::Wait)) => {
                let text = format!("all {POOL_CONNECTIONS} connections for loading are in use");
                Err(DbError::new(ErrorKind::Other, "", text))
            }
            Err(error) => Err(DbError::new(ErrorKind::Other, "", error.to_string())),
        }
    }
}

impl fmt::Debug for AdminPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminPool")
    }
}

/// Makes a pool's connections by the rules that all connections follow.
pub(super) struct PoolConnector {
    connector: Connector,
    session_sql: Vec<String>,
}

impl PoolConnector {
    /// One whose connections begin with `session_sql`.
    pub(super) fn new(connector: Connector, session_sql: Vec<String>) -> Self {
        Self { connector, session_sql }
    }

    async fn make(&self) -> Result<(Client, JoinHandle<()>), DbError> {
        let made = self.connector.connect_client().await?;
        for sql in &self.session_sql {
            let done = made.0.batch_execute(sql).await.map_err(|error| from_driver(&error));
            done.map_err(|error| error.in_session_sql(sql))?;
        }
        if let Some(sql) = self.session_sql.last() {
            // In a block time stands still.
            let look = "SELECT 1 WHERE now() <> statement_timestamp()";
            let found = made.0.simple_query(look).await.map_err(|error| from_driver(&error))?;
            if found.iter().any(|message| matches!(message, SimpleQueryMessage::Row(_))) {
                return Err(DbError::open_block_of_session_sql(sql));
            }
        }
        Ok(made)
    }
}

type Connecting<'a> = Pin<
    Box<dyn Future<Output = Result<(Client, JoinHandle<()>), tokio_postgres::Error>> + Send + 'a>,
>;

impl Connect for PoolConnector {
    fn connect(&self, _: &Config) -> Connecting<'_> {
        Box::pin(async move {
            match self.make().await {
                Ok(made) => Ok(made),
                Err(error) => Err(to_backend(error).await),
            }
        })
    }
}

/// Our error as the driver's, which is the only kind that the pool passes on.
async fn to_backend(error: DbError) -> tokio_postgres::Error {
    let broken = Broken(Some(io::Error::other(error)));
    let mut config = Config::new();
    config.user("").ssl_mode(tokio_postgres::config::SslMode::Disable);
    config.connect_raw(broken, NoTls).await.err().expect("the stream does not even take the start")
}

/// The error that `to_backend` took in, or any other of the driver's.
pub(super) fn from_backend(error: &tokio_postgres::Error) -> DbError {
    let cause =
        std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<io::Error>());
    match cause.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<DbError>()) {
        Some(ours) => ours.clone(),
        None => from_driver(error),
    }
}

/// A stream whose first use is its error.
struct Broken(Option<io::Error>);

impl Broken {
    fn fail<T>(&mut self) -> Poll<io::Result<T>> {
        Poll::Ready(Err(self.0.take().unwrap_or_else(|| io::ErrorKind::BrokenPipe.into())))
    }
}

impl AsyncRead for Broken {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.fail()
    }
}

impl AsyncWrite for Broken {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.fail()
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.fail()
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.fail()
    }
}

/// A connection for administration; goes back to the pool when it is dropped.
pub(crate) struct PgAdmin {
    /// Absent after a COPY that failed.
    client: Option<Object>,
    /// Made for the server's version at the first reading.
    monitor: Option<MonitorQuery>,
}

impl PgAdmin {
    fn client(&self) -> Result<&Object, DbError> {
        self.client.as_ref().ok_or_else(|| {
            DbError::new(ErrorKind::Lost, "", "the connection was closed after a load that failed")
        })
    }

    /// Writes rows with COPY. After an error, how many replies are still to come depends on when
    /// the server met it, and the driver's count may be wrong (its issue 789).
    async fn copy(
        &self,
        table: &TableRows,
        range: Range<u64>,
        done: &dyn Fn(u64),
    ) -> Result<u64, tokio_postgres::Error> {
        let client = self.client.as_ref().expect("the caller has looked");
        let mut sink = pin!(client.copy_in::<_, Bytes>(&copy_statement(table)).await?);
        let mut text = TabText::default();
        let mut unreported = 0;
        for index in range {
            table.write_row(index, &mut text);
            unreported += 1;
            if text.is_full() {
                sink.send(text.take()).await?;
                done(unreported);
                unreported = 0;
            }
        }
        sink.send(text.take()).await?;
        let written = sink.finish().await?;
        done(unreported);
        Ok(written)
    }
}

impl fmt::Debug for PgAdmin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PgAdmin")
    }
}

impl Admin for PgAdmin {
    /// Several statements that are sent at once are one transaction: what cannot run in one, such
    /// as VACUUM, goes alone.
    async fn batch(&mut self, sql: &str) -> Result<(), DbError> {
        self.client()?.batch_execute(sql).await.map_err(|error| from_driver(&error))
    }

    async fn claim(&mut self) -> Result<bool, DbError> {
        let rows = self.rows(&format!("SELECT pg_try_advisory_lock({CLAIM})")).await?;
        Ok(rows.iter().flatten().any(|cell| cell.as_deref() == Some("t")))
    }

    async fn release(&mut self) {
        let _ = self.batch(&format!("SELECT pg_advisory_unlock({CLAIM})")).await;
    }

    async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let messages = self.client()?.simple_query(sql).await;
        let messages = messages.map_err(|error| from_driver(&error))?;
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let text =
            |row: &tokio_postgres::SimpleQueryRow, column| row.get(column).map(str::to_owned);
        Ok(rows.map(|row| (0..row.len()).map(|column| text(&row, column)).collect()).collect())
    }

    async fn load(
        &mut self,
        table: &TableRows,
        range: Range<u64>,
        done: &dyn Fn(u64),
    ) -> Result<(), DbError> {
        self.client()?;
        let written = match self.copy(table, range.clone(), done).await {
            Ok(written) => written,
            Err(error) => {
                self.client.take().map(Object::take);
                return Err(from_driver(&error));
            }
        };
        let sent = range.end.saturating_sub(range.start);
        if written != sent {
            let text = format!("{}: {sent} rows sent, {written} written", table.table);
            return Err(DbError::new(ErrorKind::Other, "", text));
        }
        Ok(())
    }

    async fn reset_statistics(&mut self) -> Result<(), DbError> {
        self.batch(RESET_STATISTICS).await
    }

    async fn facts(&mut self) -> Result<ServerFacts, DbError> {
        let mut row = self.rows(FACTS).await?.into_iter().next().unwrap_or_default().into_iter();
        let mut next = || row.next().flatten();
        let mut facts = ServerFacts {
            version: next().unwrap_or_default(),
            data_directory: next(),
            log_directory: next(),
            database_bytes: next().and_then(|bytes| bytes.parse().ok()),
            local: next().as_deref() == Some("t"),
            clients_max: next().and_then(|count| count.parse().ok()),
            checkpoint_s: next().and_then(|seconds| seconds.parse().ok()),
            transport: next(),
            ..ServerFacts::default()
        };
        for row in self.rows(SETTINGS).await? {
            if let [Some(name), Some(value)] = &row[..] {
                facts.settings.insert(name.clone(), value.clone());
            }
        }
        Ok(facts)
    }

    async fn reading(&mut self) -> Result<Reading, DbError> {
        let mut query = match self.monitor.take() {
            Some(query) => query,
            None => {
                let rows = self.rows("SHOW server_version_num").await?;
                let number = rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
                let version = number.unwrap_or(0_u32) / 10_000;
                let Some(query) = MonitorQuery::new("postgres", version) else {
                    return Ok(Reading::default());
                };
                query
            }
        };
        let reading = query.read(self).await;
        self.monitor = Some(query);
        reading
    }
}

fn copy_statement(table: &TableRows) -> String {
    let columns: Vec<String> = table.columns.iter().map(|column| quote(column)).collect();
    let freeze = if table.freeze { " WITH (FREEZE)" } else { "" };
    format!("COPY {} ({}) FROM STDIN{freeze}", quote(&table.table), columns.join(", "))
}

/// A name as SQL writes it.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_error_of_ours_passes_through_the_pool() {
        let error = DbError::new(ErrorKind::Connect, "28P01", "no");
        let back = from_backend(&to_backend(error).await);
        assert_eq!(
            (back.kind(), back.code(), &*back.to_string()),
            (ErrorKind::Connect, "28P01", "no (28P01)")
        );
    }
}
