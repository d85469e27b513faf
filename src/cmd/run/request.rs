//! From options to what will be run: scripts, seeds, window. The only place with defaults.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::cli::{ArrivalArg, LoadArgs, ProtocolArg, RunArgs};
use crate::engine::ErrorKind;
use crate::plan::study::Part;
use crate::plan::{
    Arrival, DEFAULT_DURATION, PlannedScript, PlannedTarget, PlannedWorkload, Protocol, RunPlan,
    Span, default_warmup,
};
use crate::schema::Schema;
use crate::script::Dialect;
use crate::target::NamedTarget;
use crate::units;
use crate::workload::source::{Origin, Source, split_weight};
use crate::workload::{CompileOptions, TableCount, Workload, builtin};

/// Tries of a transaction of the sysbench workloads: they lock rows in random order, so that
/// deadlocks are theirs, not the server's.
const SBTEST_TRIES: u32 = 10;
/// The workload when none is named.
const DEFAULT_WORKLOAD: &str = "tpcb-like";

/// The workloads that the options name, in the order of running: one, or those of a list.
#[derive(Debug)]
pub(crate) struct Workloads {
    /// What results call them.
    pub(crate) name: String,
    /// They are a list.
    pub(crate) is_list: bool,
    /// Each compiled for the engine.
    pub(crate) each: Vec<Arc<Workload>>,
}

/// The scripts that the options name, compiled for an engine. Sets of tables have the tables of
/// `tables`, once they are known.
pub(crate) fn workloads(
    args: &LoadArgs,
    dialect: Dialect,
    tables: Option<TableCount>,
) -> anyhow::Result<Workloads> {
    if args.pipeline && args.protocol == Some(ProtocolArg::Simple) {
        bail!("--pipeline: simple protocol has no pipelines: give --protocol extended or prepared");
    }
    let options = CompileOptions {
        dialect,
        defines: args.define.clone(),
        allow_shell: args.allow_shell,
        prepared_asked: matches!(
            args.protocol,
            Some(ProtocolArg::Extended | ProtocolArg::Prepared)
        ) || args.pipeline,
        pipeline: args.pipeline,
        tables,
    };
    let data_dir = args.data_dir.as_deref();
    let compile = |parts: &Vec<Part>| {
        let source = |part: &Part| -> anyhow::Result<(Source, u64)> {
            Ok(match part {
                Part::Builtin(text) => {
                    let (name, weight) = split_weight(text)?;
                    (Source::builtin(name, dialect, data_dir)?, weight)
                }
                Part::File(text) => {
                    let (path, weight) = split_weight(text)?;
                    (Source::read(Path::new(path))?, weight)
                }
            })
        };
        let scripts = parts.iter().map(source).collect::<anyhow::Result<Vec<_>>>()?;
        let names: Vec<&str> = scripts.iter().map(|(source, _)| source.name.as_str()).collect();
        let name = names.join("+");
        Ok(Arc::new(Workload::compile(&name, scripts, &options)?))
    };
    let steps = steps(args)?;
    let each = steps.iter().map(compile).collect::<anyhow::Result<Vec<_>>>()?;
    let names: Vec<&str> = each.iter().map(|workload| workload.name.as_str()).collect();
    let list = list(args)?;
    let name = list.map_or_else(|| names.join(","), str::to_owned);
    Ok(Workloads { name, is_list: list.is_some() || each.len() > 1, each })
}

/// The scripts of each workload, in the order of running.
fn steps(args: &LoadArgs) -> anyhow::Result<Vec<Vec<Part>>> {
    if !args.sequence.is_empty() {
        return Ok(args.sequence.clone());
    }
    let builtin = |name: &str| Part::Builtin(name.to_owned());
    if let Some(name) = list(args)?
        && let Some(list) = Source::list(name, args.data_dir.as_deref())?
    {
        let names = builtin::in_list(&list.text);
        if names.is_empty() {
            bail!("the list {name} ({}) names no workload: write one a line", list.place());
        }
        return Ok(names.into_iter().map(|name| vec![builtin(name)]).collect());
    }
    let mut parts: Vec<Part> = args.workload.iter().map(|text| builtin(text)).collect();
    let shorthands = [(args.skip_some_updates, "simple-update"), (args.select_only, "select-only")];
    parts.extend(shorthands.iter().filter(|(given, _)| *given).map(|(_, name)| builtin(name)));
    parts.extend(args.script.iter().map(|text| Part::File(text.clone())));
    if parts.is_empty() {
        parts.push(builtin(DEFAULT_WORKLOAD));
    }
    Ok(vec![parts])
}

/// The list that the options name, which is then all that they name.
fn list(args: &LoadArgs) -> anyhow::Result<Option<&str>> {
    let is_list = |text: &&String| {
        let name = text.split('@').next().unwrap_or_default();
        builtin::list_names().any(|list| list == name)
    };
    let Some(list) = args.workload.iter().find(is_list) else { return Ok(None) };
    let others =
        args.workload.len() + args.script.len() > 1 || args.skip_some_updates || args.select_only;
    if others || list.contains('@') {
        bail!(
            "--workload {list}: a list of workloads runs alone, one after the other, and has no \
             weight"
        );
    }
    Ok(Some(list))
}

/// What options and scripts decide before a connection is made.
#[derive(Debug)]
pub(crate) struct Choices {
    /// Of each workload.
    pub(crate) protocols: Vec<Protocol>,
    /// Scripts that forced the protocol to be `simple`, with the reason.
    pub(crate) simple_only: Vec<(String, String)>,
    pub(crate) seed: Seed,
    /// The tables that built-in scripts need.
    pub(crate) schema: Option<Schema>,
    /// Each transaction of one of the scripts updates a branch.
    pub(crate) updates_branches: bool,
}

/// Decides protocol and seed, and what the scripts need.
pub(crate) fn choices(args: &LoadArgs, workloads: &Workloads) -> anyhow::Result<Choices> {
    let mut simple_only = Vec::new();
    let mut protocols = Vec::new();
    for workload in &workloads.each {
        protocols.push(match args.protocol {
            // As in pgbench: what cannot be prepared fails when it is executed.
            Some(asked) => asked.into(),
            None => {
                let before = simple_only.len();
                simple_only.extend(workload.scripts.iter().filter_map(|script| {
                    Some((script.name.clone(), script.not_preparable.clone()?))
                }));
                if simple_only.len() == before { Protocol::Prepared } else { Protocol::Simple }
            }
        });
    }
    let scripts = || workloads.each.iter().flat_map(|workload| &workload.scripts);
    let mut schema = None;
    for script in scripts() {
        let is_builtin = !args.has_files() || script.source.origin == Origin::Embedded;
        let key = script.source.header().schema.filter(|_| is_builtin).unwrap_or_default();
        let Some(needed) = Schema::from_key(&key) else { continue };
        if schema.is_some_and(|other| other != needed) {
            bail!("the workloads need the tables of different schemas: run one after the other");
        }
        schema = Some(needed);
    }
    let updates_branches =
        workloads.each.iter().flat_map(|workload| &workload.statements).any(|statement| {
            statement.text.to_ascii_lowercase().contains("update pgbench_branches")
        });
    Ok(Choices { protocols, simple_only, seed: seed(args)?, schema, updates_branches })
}

/// A seed with the sequence it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed {
    pub(crate) value: u64,
    /// The sequence is pgbench's.
    pub(crate) pgbench: bool,
}

/// The seed that the options name, or one drawn now.
fn seed(args: &LoadArgs) -> anyhow::Result<Seed> {
    // 32 bits: short enough to be typed again.
    let drawn = u64::from(rand::random::<u32>());
    match (args.seed, args.random_seed.as_deref()) {
        (Some(value), _) => Ok(Seed { value, pgbench: false }),
        (None, None) => Ok(Seed { value: drawn, pgbench: false }),
        (None, Some("rand")) => Ok(Seed { value: drawn, pgbench: true }),
        (None, Some("time")) => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
            Ok(Seed { value: u64::try_from(now.as_micros())?, pgbench: true })
        }
        (None, Some(text)) => {
            let value = text.parse().ok().with_context(|| {
                format!("--random-seed \"{text}\" is neither a whole number nor time nor rand")
            })?;
            Ok(Seed { value, pgbench: true })
        }
    }
}

/// What the plan holds beside the options: found out while preparing.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) target: &'a NamedTarget,
    pub(crate) workloads: &'a Workloads,
    pub(crate) choices: &'a Choices,
    pub(crate) scale: Option<u64>,
    pub(crate) tables: Option<TableCount>,
    /// See [`RunPlan::maintain`].
    pub(crate) maintain: bool,
}

/// The plan, with every default filled in.
pub(crate) fn plan(args: &RunArgs, found: &Found<'_>) -> RunPlan {
    let window = &args.window;
    let duration =
        window.transactions.is_none().then(|| window.duration.unwrap_or(DEFAULT_DURATION));
    let warmup = match (window.warmup, duration) {
        (Some(warmup), _) => warmup,
        (None, Some(duration)) => default_warmup(duration),
        (None, None) => Duration::ZERO,
    };
    let workloads = found.workloads.each.iter().zip(&found.choices.protocols);
    let is_sbtest = found.choices.schema == Some(Schema::Sbtest);
    RunPlan {
        workload: found.workloads.name.clone(),
        scale: found.scale,
        tables: found.tables.map(|known| known.tables),
        table_size: found.tables.map(|known| known.table_size),
        clients: args.load.clients.0.clone(),
        duration: duration.map(Span),
        transactions: window.transactions,
        ramp: window.ramp.filter(|ramp| !ramp.is_zero()).map(Span),
        warmup: Span(whole_ms(warmup)),
        interval: Span(window.interval),
        rate_per_s: window.rate,
        arrival: window.rate.map(|_| match window.arrival {
            ArrivalArg::Poisson => Arrival::Poisson,
            ArrivalArg::Constant => Arrival::Constant,
        }),
        latency_limit: window.latency_limit.map(Span),
        rounds: window.rounds,
        // The connections of a pool belong to one.
        workers: match args.sessions.pool {
            Some(_) => 1,
            None => args.load.workers.unwrap_or_else(default_workers),
        },
        pipeline: args.load.pipeline,
        connect: args.sessions.connect,
        pool: args.sessions.pool,
        session_sql: args.sessions.session_sql.clone(),
        seed: found.choices.seed.value,
        pgbench_sequence: found.choices.seed.pgbench,
        maintain: found.maintain,
        monitor: !args.results.no_monitor,
        grace: Span(window.grace),
        max_tries: args.errors.max_tries.unwrap_or(if is_sbtest { SBTEST_TRIES } else { 1 }),
        continue_on_error: args.errors.continue_on_error,
        ignore_errors: ignored_errors(&args.errors.ignore_errors, is_sbtest),
        exit_on_abort: args.errors.exit_on_abort,
        reconnect: !args.errors.no_reconnect,
        defines: args.load.define.clone(),
        workloads: workloads.map(|(workload, protocol)| planned(workload, *protocol)).collect(),
        targets: vec![PlannedTarget {
            name: found.target.name.clone(),
            url: found.target.target.to_string(),
        }],
    }
}

fn planned(workload: &Workload, protocol: Protocol) -> PlannedWorkload {
    let scripts = workload.scripts.iter().map(|script| PlannedScript {
        name: script.name.clone(),
        weight: script.weight,
        sha256: script.source.sha256.clone(),
    });
    PlannedWorkload { name: workload.name.clone(), protocol, scripts: scripts.collect() }
}

/// The errors after which a client goes on. Of the sysbench workloads duplicate keys: two clients
/// that delete and insert the same id at once meet them on any engine.
fn ignored_errors(given: &[String], is_sbtest: bool) -> Vec<String> {
    match given {
        [] if is_sbtest => vec![ErrorKind::Duplicate.name().to_owned()],
        [none] if none == "none" => Vec::new(),
        given => given.to_vec(),
    }
}

/// Refuses what no engine has as the code of an error.
pub(crate) fn check_ignored(codes: &[String]) -> anyhow::Result<()> {
    let alone = codes.len() == 1;
    let is_code = |code: &str| {
        let capitals = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
        let sqlstate = code.len() == 5 && code.chars().all(capitals);
        let number = (1..=5).contains(&code.len()) && code.chars().all(|c| c.is_ascii_digit());
        let sqlite = code.strip_prefix("SQLITE_");
        let sqlite = sqlite.is_some_and(|name| name.chars().all(|c| capitals(c) || c == '_'));
        sqlstate || number || sqlite || (code == "none" && alone) || ErrorKind::named(code)
    };
    match codes.iter().find(|code| !is_code(code)) {
        None => Ok(()),
        Some(code) => bail!(
            "--ignore-errors \"{code}\" is no code of an error: give an SQLSTATE (23505), a number of \
             MySQL's (1062), a name of SQLite's (SQLITE_CONSTRAINT), duplicate, or none alone"
        ),
    }
}

/// A default to the nanosecond would be noise in a plan.
fn whole_ms(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// One worker drives tens of thousands of transactions a second; the rest of the machine is
/// likely to be the server's.
pub(crate) fn default_workers() -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(processors / 4).unwrap_or(1).max(1)
}

/// The window in words: `5s after 833ms of warm-up`.
pub(crate) fn window_in_words(plan: &RunPlan) -> String {
    match (plan.transactions, plan.duration) {
        (Some(transactions), _) => format!("{transactions} transactions per client"),
        (None, Some(duration)) => {
            let ramp = plan.ramp.map(|ramp| units::format_duration(ramp.0) + " of ramp and ");
            format!(
                "{} after {}{} of warm-up",
                units::format_duration(duration.0),
                ramp.unwrap_or_default(),
                units::format_duration(plan.warmup.0)
            )
        }
        (None, None) => String::new(),
    }
}
