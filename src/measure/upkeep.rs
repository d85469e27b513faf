//! The tables of built-in workloads during a run: what is done to them before and after a level.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::MeasureError;
use super::load_talk::LoadTalk;
use crate::engine::Engine;
use crate::report::Talk;
use crate::result::Warning;
use crate::runner::load::{self, tables};
use crate::schema::Schema;
use crate::schema::files::SchemaSql;
use crate::schema::plan::InitPlan;
use crate::workload::Workload;
use crate::workload::source::RowChange;

/// Work that takes longer is explained.
const SILENCE: Duration = Duration::from_secs(2);
const BEFORE_LEVEL: &str = "emptying pgbench_history and vacuuming: not done yet, another session \
                            may hold a lock on the tables";

/// Does `work`, and says what it is if it takes long.
async fn explained<T>(work: impl Future<Output = T>, talk: &mut Talk, what: &str) -> T {
    let mut work = std::pin::pin!(work);
    match timeout(SILENCE, &mut work).await {
        Ok(done) => done,
        Err(_) => {
            talk.say(what);
            work.await
        }
    }
}

/// Looks after the tables of the built-in workloads.
#[derive(Debug)]
pub(crate) struct Upkeep {
    pub(crate) sql: SchemaSql,
    /// See [`crate::plan::RunPlan::maintain`].
    pub(crate) maintain: bool,
    /// Each test is followed by a vacuum and a checkpoint.
    pub(crate) settle: bool,
    /// Tables that the database holds.
    pub(crate) tables: u32,
    /// How tables are made anew, but for their size and seed, and what an engine knows of how they
    /// were made.
    pub(crate) remake: InitPlan,
}

impl Upkeep {
    /// Before a level. Returns what to say about it.
    pub(crate) async fn before<E: Engine>(
        &self,
        engine: &Arc<E>,
        workload: &Workload,
        talk: &mut Talk,
    ) -> Result<Vec<Warning>, MeasureError> {
        // A connection of its own: the one before may have ended with the server.
        let mut admin = engine.admin().await?;
        match self.sql.schema() {
            Schema::Tpcb if self.maintain => {
                explained(tables::before_level(&mut admin, self.sql), talk, BEFORE_LEVEL).await?;
            }
            Schema::Tpcb => {}
            Schema::Sbtest => return self.before_sbtest(engine, &mut admin, workload, talk).await,
        }
        Ok(Vec::new())
    }

    async fn before_sbtest<E: Engine>(
        &self,
        engine: &Arc<E>,
        admin: &mut E::Admin,
        workload: &Workload,
        talk: &mut Talk,
    ) -> Result<Vec<Warning>, MeasureError> {
        let headers = workload.scripts.iter().map(|script| script.source.header());
        let changes: Vec<_> = headers.filter_map(|header| header.changes).collect();
        let mut notes = Vec::new();
        // What only adds rows needs none.
        let needs_rows = !workload
            .scripts
            .iter()
            .all(|script| script.source.header().changes == Some(RowChange::Inserts));
        if self.maintain
            && needs_rows
            && let Some(used) = tables::sbtest::used_up(admin, self.sql).await?
        {
            talk.say("a test has used up the tables: making them anew");
            let plan = InitPlan { size: used.size, seed: used.seed, ..self.remake.clone() };
            let plan = tables::sbtest::as_made(admin, self.sql, plan).await?;
            load::init(engine, self.sql, &plan, false, &mut LoadTalk::new(talk)).await?;
            let (left_pct, added_pct) = (used.left * 100.0, used.added * 100.0);
            notes.push(Warning::TablesRemade { left_pct, added_pct });
        }
        for change in changes {
            tables::sbtest::note_change(admin, self.sql, change).await?;
        }
        Ok(notes)
    }

    /// After a level.
    pub(crate) async fn after<E: Engine>(
        &self,
        engine: &Arc<E>,
        talk: &mut Talk,
    ) -> Result<Option<Warning>, MeasureError> {
        if !self.maintain || !self.settle || self.sql.schema() != Schema::Sbtest {
            return Ok(None);
        }
        talk.say("vacuum and checkpoint...");
        let mut admin = engine.admin().await?;
        let refused = tables::sbtest::settle(&mut admin, self.sql, self.tables).await?;
        Ok(refused.map(|error| Warning::NotSettled { why: error.to_string() }))
    }
}
