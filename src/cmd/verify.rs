//! `dbload verify`: checks row counts and balances of every schema whose tables are there.

use std::sync::Arc;

use super::engines::{OnEngine, on_engine};
use super::signals::Signals;
use super::{Exit, target};
use crate::cli::VerifyArgs;
use crate::engine::Engine;
use crate::report::Output;
use crate::runner::load::{LoadError, tables};
use crate::schema::Schema;
use crate::schema::check::VerifyReport;
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
        let checking = async {
            let mut schemas = tables::present(&mut admin, E::DIALECT).await?;
            if schemas.is_empty() {
                // Its check says which tables are missing.
                schemas.push(Schema::Tpcb);
            }
            let mut reports = Vec::new();
            for schema in schemas {
                let sql = SchemaSql::new(schema, E::DIALECT);
                reports.push(tables::verify(&mut admin, sql, self.rebase).await?);
            }
            Ok::<_, LoadError>(reports)
        };
        let Some(reports) = self.signals.or_interrupted(checking).await else {
            return Ok(self.signals.exit().unwrap_or(Exit::Interrupted));
        };
        let reports = reports?;
        for report in &reports {
            Output::stdout().write(&format!("{report}\n"))?;
        }
        let is_clean = reports.iter().all(VerifyReport::is_clean);
        Ok(if is_clean { Exit::Complete } else { Exit::Impaired })
    }
}
