//! The tables that a run finds, or loads first, and which of them its scripts use.

use std::sync::Arc;

use anyhow::bail;

use super::request::{Choices, Workloads};
use crate::cli::RunArgs;
use crate::cmd::tables::{init_plan, schema_size};
use crate::engine::{Admin as _, Engine, ServerFacts};
use crate::measure::LoadTalk;
use crate::report::Talk;
use crate::runner::load::{self, LoadError, tables};
use crate::schema::columns::Found;
use crate::schema::files::SchemaSql;
use crate::schema::{Schema, SchemaSize};
use crate::workload::TableCount;

/// A connected server whose tables are there, where they are wanted.
pub(super) struct Prepared {
    pub(super) facts: ServerFacts,
    /// The tables, where there are some.
    pub(super) found: Option<Found>,
}

/// Connects, loads with `--init`, and looks for the tables of `sql`.
pub(super) async fn prepare<E: Engine>(
    args: &RunArgs,
    engine: &Arc<E>,
    sql: SchemaSql,
    talk: &mut Talk,
) -> anyhow::Result<Prepared> {
    let mut admin = engine.admin().await?;
    let facts = admin
        .facts()
        .await
        .map_err(|error| anyhow::Error::from(error).context("asking the server about itself"))?;
    if args.init {
        let size = schema_size(sql.schema(), args.load.scale, &args.size)?;
        let plan = init_plan::<E>(&args.tables, size, args.load.seed.unwrap_or(0));
        let outcome =
            load::init(engine, sql, &plan, !plan.replace, &mut LoadTalk::new(talk)).await?;
        match outcome {
            load::Outcome::Loaded(report) => talk.say(&report.to_string()),
            load::Outcome::Reused(found) => {
                talk.say(&format!("using the tables that are there, of {}", found.size));
            }
        }
    }
    let found = match tables::find(&mut admin, sql).await {
        Ok(found) => Some(found),
        Err(LoadError::Missing { .. }) => None,
        // A script of the user's may live beside tables that are not ours.
        Err(_) if args.load.has_files() => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Prepared { facts, found })
}

/// The schema whose tables a run looks for.
pub(super) fn schema(choices: &Choices, workloads: &Workloads) -> Schema {
    let has_sets = || workloads.each.iter().any(|workload| workload.has_table_sets());
    match choices.schema {
        Some(schema) => schema,
        None if has_sets() => Schema::Sbtest,
        // Scripts of the user's get the scale of the tables, where there are some.
        None => Schema::Tpcb,
    }
}

/// The tables that the scripts use: what the options say, else what the database holds. Nothing for
/// another schema.
pub(super) fn table_count(
    args: &RunArgs,
    schema: Schema,
    found: Option<&Found>,
) -> anyhow::Result<Option<TableCount>> {
    let asked = &args.size;
    if schema != Schema::Sbtest {
        if asked.tables.is_some() || asked.table_size.is_some() {
            bail!("--tables and --table-size are for the workloads of the sysbench tables");
        }
        return Ok(None);
    }
    let held = found.and_then(|found| match found.size {
        SchemaSize::Sbtest { tables, table_size } => Some(TableCount { tables, table_size }),
        SchemaSize::Tpcb { .. } => None,
    });
    if let (Some(asked), Some(held)) = (asked.tables, held)
        && asked > held.tables
    {
        bail!(
            "--tables {asked}: the database holds {}; leave it out, or load more with `dbload init`",
            held.tables
        );
    }
    let Some(tables) = asked.tables.or(held.map(|held| held.tables)) else {
        if args.load.define.iter().any(|(name, _)| name == "tables") {
            return Ok(None);
        }
        bail!("how many tables has the set? There are no sysbench tables: give --tables N");
    };
    let table_size = asked.table_size.or(held.map(|held| held.table_size)).unwrap_or(1);
    Ok(Some(TableCount { tables, table_size }))
}
