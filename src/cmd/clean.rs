//! `dbload clean`: drops the tables that `dbload init` makes.

use std::sync::Arc;

use super::engines::{OnEngine, on_engine};
use super::signals::Signals;
use super::{Exit, target};
use crate::cli::CleanArgs;
use crate::engine::Engine;
use crate::report::Output;
use crate::runner::load::{LoadError, tables};
use crate::schema::Schema;
use crate::schema::files::SchemaSql;
use crate::target::Env;

/// Drops what `dbload init` made, and says what that was.
pub(crate) async fn clean(args: CleanArgs, env: &Env, signals: &Signals) -> anyhow::Result<Exit> {
    let named = target(&args.target, env)?;
    on_engine(&named.target, false, Clean { signals }).await
}

struct Clean<'a> {
    signals: &'a Signals,
}

impl OnEngine for Clean<'_> {
    async fn on<E: Engine>(self, engine: Arc<E>) -> anyhow::Result<Exit> {
        let mut admin = engine.admin().await?;
        let dropping = async {
            let schemas = Schema::ALL.map(|schema| SchemaSql::new(schema, E::DIALECT));
            // Nothing goes as long as something may not.
            for sql in schemas {
                tables::check_own(&mut admin, sql).await?;
            }
            let mut dropped = Vec::new();
            for sql in schemas {
                dropped.extend(tables::clean(&mut admin, sql).await?);
            }
            Ok::<_, LoadError>(dropped)
        };
        let Some(dropped) = self.signals.or_interrupted(dropping).await else {
            return Ok(self.signals.exit().unwrap_or(Exit::Interrupted));
        };
        let dropped = dropped?;
        let text = match dropped.is_empty() {
            true => "nothing to drop: the schema's tables do not exist\n".to_owned(),
            false => format!("dropped {}\n", dropped.join(", ")),
        };
        Output::stdout().write(&text)?;
        Ok(Exit::Complete)
    }
}
