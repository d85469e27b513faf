//! The workloads of a plan: which of them run in one go, and the tables that they need.

use anyhow::Context;
use clap::Parser;

use crate::cli::{Cli, Command, RunArgs};
use crate::cmd::run::{Needs, needs};
use crate::plan::study::{EngineKind, Part, Step, StudyPlan};
use crate::schema::{Schema, SchemaSize, sbtest};
use crate::script::Dialect;
use crate::workload::builtin;

/// Workloads that run one after the other in one folder: those of the same tables.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Built-in tables that they are at home on; none for scripts of the user's.
    schema: Option<Schema>,
    /// The workloads.
    pub(super) sequence: Vec<Vec<Part>>,
}

/// The workloads of a plan.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    /// In the order of running.
    pub(super) groups: Vec<Group>,
    /// What is loaded.
    pub(super) sizes: Vec<SchemaSize>,
    /// Names of the workloads in results.
    pub(super) names: Vec<String>,
}

/// The options of `dbload run` when none is given.
pub(super) fn default_run() -> anyhow::Result<RunArgs> {
    match Cli::try_parse_from(["dbload", "run"])?.command {
        Command::Run(args) => Some(*args),
        _ => None,
    }
    .context("no run")
}

/// Reads the workloads that the plan names, on every engine that it has.
pub(super) fn read(plan: &StudyPlan) -> anyhow::Result<Steps> {
    let mut dialects: Vec<Dialect> = Vec::new();
    for arm in &plan.arms {
        let dialect = match arm.server.engine {
            EngineKind::Postgres => Dialect::Postgres,
            EngineKind::MariaDb | EngineKind::MySql => Dialect::Mysql,
            EngineKind::Sqlite => Dialect::Sqlite,
        };
        if !dialects.contains(&dialect) {
            dialects.push(dialect);
        }
    }
    check_pool(plan, &dialects)?;
    let mut groups: Vec<Group> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut tables: Vec<Schema> = Vec::new();
    let mut has_files = false;
    for step in plan.load.steps.iter().flat_map(members) {
        has_files |= step.parts.iter().any(|part| matches!(part, Part::File(_)));
        let mut args = default_run()?.load;
        args.sequence = vec![step.parts.clone()];
        args.pipeline = plan.load.pipeline;
        let refused = |error: anyhow::Error| plan.refusal(step.line, format!("{error:#}"));
        let mut found: Option<Needs> = None;
        for dialect in &dialects {
            found = Some(needs(&args, *dialect).map_err(refused)?);
        }
        let Needs { name, schema, table_set } = found.context("no arm")?;
        if names.contains(&name) {
            let why =
                format!("the workload {name} is there twice: results could not be told apart");
            return Err(plan.refusal(step.line, why).into());
        }
        names.push(name);
        for needed in [schema, table_set].into_iter().flatten() {
            if !tables.contains(&needed) {
                tables.push(needed);
            }
        }
        match groups.last_mut().filter(|group| group.schema == schema) {
            Some(group) => group.sequence.push(step.parts),
            None => groups.push(Group { schema, sequence: vec![step.parts] }),
        }
    }
    let sizes = sizes(plan, &tables, has_files)?;
    Ok(Steps { groups, sizes, names })
}

/// A pool that could not be kept is refused before anything is loaded.
fn check_pool(plan: &StudyPlan, dialects: &[Dialect]) -> anyhow::Result<()> {
    let load = &plan.load;
    let Some(pool) = load.pool else { return Ok(()) };
    let why = if dialects.iter().any(|dialect| *dialect != Dialect::Postgres) {
        "pool: it needs PostgreSQL, on every server of the plan"
    } else if load.connect || load.pipeline {
        "pool: it goes neither with connect nor with pipeline: remove one"
    } else {
        return Ok(());
    };
    Err(plan.refusal(pool.line, why).into())
}

/// The workloads of a list, or the one.
fn members(step: &Step) -> Vec<Step> {
    if let [Part::Builtin(name)] = &step.parts[..]
        && let Some(list) = builtin::list(name)
    {
        let member =
            |name: &str| Step { parts: vec![Part::Builtin(name.to_owned())], line: step.line };
        return list.into_iter().map(member).collect();
    }
    vec![step.clone()]
}

/// The tables that are loaded: those that workloads need, and for scripts those whose size is given.
fn sizes(plan: &StudyPlan, needed: &[Schema], has_files: bool) -> anyhow::Result<Vec<SchemaSize>> {
    let load = &plan.load;
    let of_sbtest = [load.tables.map(|tables| tables.line), load.table_size.map(|size| size.line)];
    let given = [
        (Schema::Tpcb, load.scale.map(|scale| scale.line), "scale", "TPC-B-like"),
        (Schema::Sbtest, of_sbtest.into_iter().flatten().next(), "tables, table_size", "sysbench"),
    ];
    let mut wanted = needed.to_vec();
    for (schema, line, option, of) in given {
        let Some(line) = line.filter(|_| !needed.contains(&schema)) else { continue };
        if !has_files {
            let why = format!("{option}: no workload of this plan uses the {of} tables: remove it");
            return Err(plan.refusal(line, why).into());
        }
        wanted.push(schema);
    }
    if wanted.is_empty() {
        wanted.push(Schema::Tpcb);
    }
    let size = |schema: Schema| match schema {
        Schema::Tpcb => SchemaSize::Tpcb { scale: load.scale.map_or(1, |scale| scale.value) },
        Schema::Sbtest => SchemaSize::Sbtest {
            tables: load.tables.map_or(sbtest::DEFAULT_TABLES, |tables| tables.value),
            table_size: load.table_size.map_or(sbtest::DEFAULT_TABLE_SIZE, |size| size.value),
        },
    };
    Ok(wanted.into_iter().map(size).collect())
}
