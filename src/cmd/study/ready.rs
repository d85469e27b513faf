//! What happens to a database before a cell measures it.

use std::sync::Arc;

use super::steps::default_run;
use crate::cmd::Exit;
use crate::cmd::engines::OnEngine;
use crate::cmd::signals::Signals;
use crate::cmd::tables::init_plan;
use crate::engine::{Admin, Engine};
use crate::measure::LoadTalk;
use crate::report::Talk;
use crate::runner::load::{self, Outcome};
use crate::schema::SchemaSize;
use crate::schema::files::SchemaSql;
use crate::schema::plan::InitPlan;

/// Loads the tables of a study.
pub(super) struct Load<'a> {
    pub(super) sizes: &'a [SchemaSize],
    pub(super) seed: u64,
    pub(super) talk: &'a mut Talk,
    pub(super) signals: &'a Signals,
    /// Takes the space of tables and keys.
    pub(super) size_bytes: &'a mut u64,
}

/// Lets the server count from zero.
pub(super) struct ResetStatistics;

impl OnEngine for ResetStatistics {
    async fn on<E: Engine>(self, engine: Arc<E>) -> anyhow::Result<Exit> {
        engine.admin().await?.reset_statistics().await?;
        Ok(Exit::Complete)
    }
}

impl OnEngine for Load<'_> {
    async fn on<E: Engine>(self, engine: Arc<E>) -> anyhow::Result<Exit> {
        let tables = default_run()?.tables;
        for size in self.sizes {
            let plan = InitPlan { replace: true, ..init_plan::<E>(&tables, *size, self.seed) };
            let sql = SchemaSql::new(size.schema(), E::DIALECT);
            let mut progress = LoadTalk::new(self.talk);
            let loading = load::init(&engine, sql, &plan, false, &mut progress);
            let Some(outcome) = self.signals.or_interrupted(loading).await else {
                return Ok(self.signals.exit().unwrap_or(Exit::Interrupted));
            };
            if let Outcome::Loaded(report) = outcome? {
                *self.size_bytes += report.size_bytes.unwrap_or_default();
                self.talk.say(&report.to_string());
            }
        }
        Ok(Exit::Complete)
    }
}
