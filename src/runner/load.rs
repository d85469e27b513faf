//! Loading the schema: the steps of `dbload init`, the rows over several connections.
//!
//! Everything that can be refused is refused before the first change. Each loading connection has a
//! thread and a runtime of its own; they share a list of ranges of rows, so that the rows are the
//! same whatever their number. Progress comes back to the thread that waits.

mod error;
mod space;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod threads;

use std::sync::Arc;

use tokio::time::Instant;

pub(crate) use self::error::LoadError;
use self::tables::{existing, find, run};
use self::threads::{Work, load_rows};
use crate::engine::{Admin, Engine};
use crate::schema::check::Origin;
use crate::schema::columns::{Existing, Found};
use crate::schema::ddl;
use crate::schema::files::SchemaSql;
use crate::schema::plan::InitPlan;
use crate::schema::progress::{InitReport, LoadProgress, LoadStep, StepTime};

/// Names and folders of the tablespaces.
const TABLESPACES: &str = include_str!("../../sql/admin/postgres/tablespace.sql");

/// What became of a wish for tables.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// They were loaded.
    Loaded(InitReport),
    /// They were there, at the scale asked for.
    Reused(Found),
}

/// Makes and loads the tables of `plan`. With `reuse`, tables of the same schema and scale are
/// left as they are (`run --init`).
pub(crate) async fn init<E: Engine>(
    engine: &Arc<E>,
    sql: SchemaSql,
    plan: &InitPlan,
    reuse: bool,
    progress: &mut dyn LoadProgress,
) -> Result<Outcome, LoadError> {
    plan.check()?;
    if !sql.has_storage_options() {
        plan.check_plain(sql.engine_name(), !sql.text("foreign_keys").is_empty())?;
    }
    let mut admin = engine.admin().await.map_err(LoadError::Connect)?;
    if !admin.claim().await.map_err(LoadError::doing("claiming the tables"))? {
        return Err(LoadError::Claimed);
    }
    let loaded = load(engine, &mut admin, sql, plan, reuse, progress).await;
    admin.release().await;
    loaded
}

/// The same, once nobody else loads.
async fn load<E: Engine>(
    engine: &Arc<E>,
    admin: &mut E::Admin,
    sql: SchemaSql,
    plan: &InitPlan,
    reuse: bool,
    progress: &mut dyn LoadProgress,
) -> Result<Outcome, LoadError> {
    let existing = existing(admin, sql, plan.partitions).await?;
    existing.check_own().map_err(LoadError::Foreign)?;
    if let Some(found) = may_load(admin, sql, plan, reuse, &existing).await? {
        return Ok(Outcome::Reused(found));
    }
    let size_bytes = ddl::estimated_bytes(sql, plan);
    let (jobs, note) = check_server::<E>(admin, sql, plan, size_bytes).await?;
    if let Some(note) = note {
        progress.note(&note);
    }
    if jobs < plan.jobs {
        progress.note(&format!(
            "{} has one writer: loading over one connection, not {}",
            sql.engine_name(),
            plan.jobs
        ));
    }

    let mut steps = Steps { progress, times: Vec::new(), since: Instant::now() };
    create(admin, sql, plan, &existing, &mut steps).await?;
    steps.begin(LoadStep::Load);
    let work = work(sql, plan, jobs);
    let rows = work.rows();
    load_rows(engine, work, jobs, |done| steps.progress.rows(done, rows, size_bytes)).await?;
    finish(admin, sql, plan, &mut steps).await?;

    let size = admin.rows(&sql.statement("size")).await.map_err(LoadError::doing("measuring"))?;
    let size = size.into_iter().flatten().next().flatten();
    Ok(Outcome::Loaded(InitReport {
        size: plan.size,
        rows,
        jobs,
        size_bytes: size.and_then(|bytes| bytes.parse().ok()),
        steps: steps.end(),
    }))
}

/// Decides what existing tables mean: nothing stands in the way (`None`), they are used again, or
/// they are a reason to refuse.
async fn may_load<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    plan: &InitPlan,
    reuse: bool,
    existing: &Existing,
) -> Result<Option<Found>, LoadError> {
    let tables = existing.workload_names();
    if tables.is_empty() || plan.replace {
        return Ok(None);
    }
    if !reuse || !existing.missing().is_empty() {
        return Err(LoadError::Exists(tables));
    }
    let found = find(admin, sql).await?;
    if found.size != plan.size {
        return Err(LoadError::OtherSize { found: found.size, asked: plan.size });
    }
    Ok(Some(found))
}

/// Refuses what the server or its disk cannot do. Returns the number of connections that load, and
/// what to say about the load.
async fn check_server<E: Engine>(
    admin: &mut E::Admin,
    sql: SchemaSql,
    plan: &InitPlan,
    needed_bytes: u64,
) -> Result<(u32, Option<String>), LoadError> {
    let facts = admin.facts().await.map_err(LoadError::doing("asking for the settings"))?;
    let jobs = if E::BLOCKING { 1 } else { plan.jobs };
    if let Some(max) = facts.clients_max
        && jobs >= max
    {
        return Err(LoadError::TooManyJobs { jobs, max });
    }
    let mut folder = facts.data_directory.filter(|_| facts.local);
    if sql.has_storage_options() {
        let rows = admin.rows(TABLESPACES).await;
        let rows = rows.map_err(LoadError::doing("asking for tablespaces"))?;
        for name in [&plan.index_tablespace, &plan.tablespace].into_iter().flatten() {
            let found = rows.iter().find(|row| row.first() == Some(&Some(name.clone())));
            let found = found.ok_or_else(|| LoadError::NoTablespace(name.clone()))?;
            let location = found.get(1).cloned().flatten().filter(|path| !path.is_empty());
            if plan.tablespace.as_ref() == Some(name) && location.is_some() && facts.local {
                folder = location;
            }
        }
    }
    if let Some(folder) = folder {
        let freed = admin.rows(&sql.statement("size")).await;
        let freed = freed.map_err(LoadError::doing("measuring the old tables"))?;
        let freed = freed.into_iter().flatten().next().flatten();
        // Without --replace there are no old tables, but an SQLite file may hold others.
        let freed = freed.filter(|_| plan.replace).and_then(|bytes| bytes.parse().ok());
        space::check(folder, plan.size, needed_bytes, freed.unwrap_or(0))?;
    }
    Ok((jobs, facts.load_note))
}

/// Drops old tables and makes new ones, in one transaction: if the new ones cannot be made, the old
/// ones are still there.
async fn create<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    plan: &InitPlan,
    existing: &Existing,
    steps: &mut Steps<'_>,
) -> Result<(), LoadError> {
    steps.begin(LoadStep::Drop);
    admin.batch("begin").await.map_err(LoadError::doing("opening a transaction"))?;
    run(admin, &ddl::drop(sql, existing)).await.map_err(LoadError::doing("dropping tables"))?;
    steps.begin(LoadStep::Create);
    let mut statements = ddl::create(sql, plan);
    statements.push(sql.statement("state_create"));
    statements.extend(ddl::state(sql, plan, Origin::Loading));
    statements.push("commit".to_owned());
    run(admin, &statements).await.map_err(LoadError::doing("creating tables"))
}

/// Everything after the rows.
async fn finish<A: Admin>(
    admin: &mut A,
    sql: SchemaSql,
    plan: &InitPlan,
    steps: &mut Steps<'_>,
) -> Result<(), LoadError> {
    for (step, statements) in ddl::finish(sql, plan) {
        steps.begin(step);
        run(admin, &statements).await.map_err(LoadError::doing(step.action()))?;
    }
    let mut statements = vec!["begin".to_owned()];
    statements.extend(ddl::state(sql, plan, Origin::Init));
    statements.push("commit".to_owned());
    run(admin, &statements).await.map_err(LoadError::doing("noting that the load has ended"))
}

/// The rows to be loaded over `jobs` connections. One connection loads everything in the
/// transaction that emptied the tables, where the engine gains by that; several share ranges.
fn work(sql: SchemaSql, plan: &InitPlan, jobs: u32) -> Work {
    let mut before = Vec::new();
    let mut after = Vec::new();
    if jobs == 1 {
        before = ddl::truncate(sql, plan);
        after.extend((!before.is_empty()).then(|| "commit".to_owned()));
    }
    let whole = !before.is_empty();
    let tables = plan.size.rows(plan.seed, sql.pads_char(), whole, plan.partitions > 0);
    Work::new(tables, whole, before, after)
}

/// Times the steps and announces them.
struct Steps<'p> {
    progress: &'p mut dyn LoadProgress,
    times: Vec<StepTime>,
    since: Instant,
}

impl Steps<'_> {
    /// Ends the step before, if there is one.
    fn begin(&mut self, step: LoadStep) {
        self.close();
        self.progress.step(step);
        self.times.push(StepTime { step, time_s: 0.0 });
    }

    fn close(&mut self) {
        if let Some(last) = self.times.last_mut() {
            last.time_s = self.since.elapsed().as_secs_f64();
        }
        self.since = Instant::now();
    }

    fn end(mut self) -> Vec<StepTime> {
        self.close();
        self.times
    }
}
