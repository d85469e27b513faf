//! `dbload verify`: checks row counts and balances.

use std::sync::Arc;

use super::engines::{OnEngine, on_engine};
use super::signals::Signals;
use super::{Exit, target};
use crate::cli::VerifyArgs;
use crate::engine::Engine;
use crate::report::Output;
use crate::runner::load::tables;
use crate::schema::files::SchemaSql;
use crate::target::Env;

/// Prints every check; [`Exit::Impaired`] when one is off.
pub(crate) async fn verify(args: VerifyArgs, env: &Env, signals: &Signals) -> anyhow::Result<Exit> {
    let named = target(&args.target, env)?;
    on_engine(&named.target, false, Verify { rebase: args.rebase, signals }).await
}

struct Verify<'a> {
    rebase: bool,
    signals: &'a Signals,
}

impl OnEngine for Verify<'_> {
    async fn on<E: Engine>(self, engine: Arc<E>) -> anyhow::Result<Exit> {
        let mut admin = engine.admin().await?;
        let sql = SchemaSql::tpcb(E::DIALECT);
        let checking = tables::verify(&mut admin, sql, self.rebase);
        let Some(report) = self.signals.or_interrupted(checking).await else {
            return Ok(self.signals.exit().unwrap_or(Exit::Interrupted));
        };
        let report = report?;
        Output::stdout().write(&format!("{report}\n"))?;
        Ok(if report.is_clean() { Exit::Complete } else { Exit::Impaired })
    }
}
