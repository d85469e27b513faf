//! Engines from targets: the only match on the kind of engine.

use std::io::IsTerminal;
use std::sync::Arc;

use super::Exit;
use crate::engine::Engine;
use crate::engine::mysql::{self, MySql};
use crate::engine::postgres::connect::Connector;
use crate::engine::postgres::{PooledPostgres, Postgres};
use crate::engine::sqlite::Sqlite;
use crate::target::{Secret, Target};

/// What a command does, on any engine.
pub(super) trait OnEngine {
    /// The pool that clients share, where they do.
    fn pooling(&self) -> Option<Pooling> {
        None
    }
    /// Does it.
    async fn on<E: Engine>(self, engine: Arc<E>) -> anyhow::Result<Exit>;
}

/// Connections that clients share.
pub(super) struct Pooling {
    pub(super) connections: u32,
    /// They begin with it.
    pub(super) session_sql: Vec<String>,
}

/// Runs `command` on the engine of `target`. An SQLite file that is absent is made only where the
/// command `may_create` it. A server is asked to log in once; where it wants a password, none is
/// known and somebody is there to type it, it is asked for.
pub(super) async fn on_engine(
    target: &Target,
    may_create: bool,
    command: impl OnEngine,
) -> anyhow::Result<Exit> {
    match target {
        Target::Postgres(target) => {
            let mut connector = Connector::new(target.clone())?;
            connector.check(ask).await?;
            match command.pooling() {
                None => command.on(Arc::new(Postgres::new(connector))).await,
                Some(Pooling { connections, session_sql }) => {
                    let engine = PooledPostgres::new(connector, connections, session_sql);
                    command.on(Arc::new(engine)).await
                }
            }
        }
        Target::MySql(target) => {
            let mut connector = mysql::connect::Connector::new(target.clone())?;
            connector.check(ask).await?;
            command.on(Arc::new(MySql::new(connector))).await
        }
        Target::Sqlite(target) => {
            let engine = Sqlite::new(target.clone());
            command.on(Arc::new(if may_create { engine.creating() } else { engine })).await
        }
    }
}

fn ask(what: &str) -> Option<Secret> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    rpassword::prompt_password(what).ok().map(Secret::new)
}
