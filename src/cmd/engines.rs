//! Engines from targets: the only match on the kind of engine.

use std::io::IsTerminal;
use std::sync::Arc;

use super::Exit;
use crate::engine::Engine;
use crate::engine::mysql::{self, MySql};
use crate::engine::postgres::Postgres;
use crate::engine::postgres::connect::Connector;
use crate::engine::sqlite::Sqlite;
use crate::target::{Secret, Target};

/// What a command does, on any engine.
pub(super) trait OnEngine {
    /// Does it.
    async fn on<E: Engine>(self, engine: Arc<E>) -> anyhow::Result<Exit>;
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
            command.on(Arc::new(Postgres::new(connector))).await
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
