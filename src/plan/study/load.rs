//! What each cell of a study runs: the `[load]` table of the plan.

use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::{Source, StudyPlanError, WithUnit};
use crate::plan::default_warmup;

/// The workload when the plan says nothing.
const DEFAULT_WORKLOAD: &str = "tpcb-like";

/// What each cell runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Run one after the other in each cell.
    pub steps: Vec<Step>,
    /// Scale factor of the TPC-B-like tables.
    pub scale: Option<Size<u32>>,
    /// Number of sysbench tables.
    pub tables: Option<Size<u32>>,
    /// Rows of each of them.
    pub table_size: Option<Size<u64>>,
    /// Client counts.
    pub clients: Vec<u32>,
    /// Clients begin evenly spread over so long before the warm-up.
    pub ramp: Option<Duration>,
    /// Before the window.
    pub warmup: Duration,
    /// The window.
    pub duration: Duration,
    /// Each transaction is sent as one pipeline.
    pub pipeline: bool,
    /// Every transaction has a new connection.
    pub connect: bool,
    /// Clients share so many connections.
    pub pool: Option<Size<u32>>,
    /// SQL that runs once on every new connection of a client.
    pub session_sql: Vec<String>,
    /// How the state of the tables is restored before a cell.
    pub prepare: Prepare,
    /// What the page cache holds before a cell.
    pub cache: Cache,
}

/// A workload as the plan names it: a script, a mix of scripts, or a list of workloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Scripts with their weights.
    pub parts: Vec<Part>,
    /// Line in the plan.
    pub line: usize,
}

/// A script of a mix, with its weight after an `@` where one is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A built-in one, or a list, by name.
    Builtin(String),
    /// A file of the user's.
    File(String),
}

/// A number with its line in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size<T> {
    /// The number.
    pub value: T,
    /// Line in the plan.
    pub line: usize,
}

/// How the state of the tables is restored before a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prepare {
    /// History truncated, tables vacuumed.
    Maintain,
    /// The data directory as it was after the load, from a copy of it.
    Template,
    /// Tables loaded again.
    Reload,
}

/// What the page cache holds before a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// What happens to be there.
    AsIs,
    /// Every file of the data folder.
    Warm,
    /// Nothing; needs root.
    Cold,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadFile {
    workloads: Option<Spanned<Vec<Spanned<StepFile>>>>,
    scale: Option<Spanned<u32>>,
    tables: Option<Spanned<u32>>,
    table_size: Option<Spanned<u64>>,
    clients: Spanned<Vec<u32>>,
    ramp: Option<Spanned<WithUnit>>,
    warmup: Option<Spanned<WithUnit>>,
    duration: Spanned<WithUnit>,
    pipeline: Option<bool>,
    connect: Option<bool>,
    pool: Option<Spanned<u32>>,
    session_sql: Option<Vec<String>>,
    prepare: Option<Prepare>,
    cache: Option<Cache>,
}

#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a workload is a name such as \"tpcb-like\", { script = \"file.sql\" }, or \
                 { mix = [\"a@2\", \"b@1\"] }"
)]
enum StepFile {
    Name(String),
    Script { script: String },
    Mix { mix: Vec<String> },
}

/// Reads the table.
pub(super) fn read(source: &Source<'_>, load: &LoadFile) -> Result<Load, StudyPlanError> {
    let clients = load.clients.get_ref();
    if clients.is_empty() || clients.contains(&0) {
        let why = "clients: give client counts of at least 1, such as clients = [2, 8, 32]";
        return Err(source.error(&load.clients.span(), why));
    }
    let duration = source.duration(&load.duration)?;
    if duration.is_zero() {
        return Err(source.error(&load.duration.span(), "duration is 0: give \"60s\" or longer"));
    }
    let warmup = match &load.warmup {
        Some(warmup) => source.duration(warmup)?,
        None => default_warmup(duration),
    };
    Ok(Load {
        steps: steps(source, load)?,
        scale: size(source, load.scale.as_ref(), "scale", "1 is 100,000 accounts")?,
        tables: size(source, load.tables.as_ref(), "tables", "sysbench makes 1")?,
        table_size: size(source, load.table_size.as_ref(), "table_size", "sysbench: 10000")?,
        clients: clients.clone(),
        ramp: load.ramp.as_ref().map(|ramp| source.duration(ramp)).transpose()?,
        warmup,
        duration,
        pipeline: load.pipeline.unwrap_or_default(),
        connect: load.connect.unwrap_or_default(),
        pool: size(source, load.pool.as_ref(), "pool", "connections that all clients share")?,
        session_sql: load.session_sql.clone().unwrap_or_default(),
        prepare: load.prepare.unwrap_or(Prepare::Maintain),
        cache: load.cache.unwrap_or(Cache::AsIs),
    })
}

/// A number that is at least 1.
fn size<T: Copy + PartialEq + From<u8>>(
    source: &Source<'_>,
    given: Option<&Spanned<T>>,
    name: &str,
    hint: &str,
) -> Result<Option<Size<T>>, StudyPlanError> {
    let Some(given) = given else { return Ok(None) };
    let value = *given.get_ref();
    if value == T::from(0) {
        let why = format!("{name} = 0: give 1 or more ({hint})");
        return Err(source.error(&given.span(), why));
    }
    Ok(Some(Size { value, line: source.line(&given.span()) }))
}

fn steps(source: &Source<'_>, load: &LoadFile) -> Result<Vec<Step>, StudyPlanError> {
    let Some(given) = &load.workloads else {
        let parts = vec![Part::Builtin(DEFAULT_WORKLOAD.to_owned())];
        return Ok(vec![Step { parts, line: 1 }]);
    };
    if given.get_ref().is_empty() {
        let why = "workloads = []: name one or more of `dbload show`, or leave the line out";
        return Err(source.error(&given.span(), why));
    }
    let step = |step: &Spanned<StepFile>| {
        let parts = match step.get_ref() {
            StepFile::Name(name) => vec![Part::Builtin(name.clone())],
            StepFile::Script { script } => vec![Part::File(script.clone())],
            StepFile::Mix { mix } if mix.is_empty() => {
                let why = "mix = []: name its scripts with their weights, such as \
                           mix = [\"tpcb-like@1\", \"select-only@9\"]";
                return Err(source.error(&step.span(), why));
            }
            StepFile::Mix { mix } => mix.iter().map(|text| part(text)).collect(),
        };
        Ok(Step { parts, line: source.line(&step.span()) })
    };
    given.get_ref().iter().map(step).collect()
}

/// In a mix a file is told from a name by its ending or its folder.
fn part(text: &str) -> Part {
    let name = text.rsplit_once('@').map_or(text, |(name, _)| name);
    let is_file = name.ends_with(".sql") || name.contains('/');
    if is_file { Part::File(text.to_owned()) } else { Part::Builtin(text.to_owned()) }
}
