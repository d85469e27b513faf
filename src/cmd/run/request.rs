//! From options to what will be run: scripts, seeds, window. The only place with defaults.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use crate::cli::{ArrivalArg, LoadArgs, ProtocolArg, RunArgs};
use crate::plan::{
    Arrival, DEFAULT_DURATION, PlannedScript, PlannedTarget, Protocol, RunPlan, Span,
};
use crate::script::Dialect;
use crate::target::NamedTarget;
use crate::units;
use crate::workload::source::{Origin, Source, split_weight};
use crate::workload::{CompileOptions, Workload};

/// The longest warm-up that is a default; a sixth of the duration otherwise.
const LONGEST_DEFAULT_WARMUP: Duration = Duration::from_secs(10);
/// The workload when none is named.
const DEFAULT_WORKLOAD: &str = "tpcb-like";

/// The scripts that the options name, compiled for an engine.
pub(crate) fn workload(args: &LoadArgs, dialect: Dialect) -> anyhow::Result<Workload> {
    let data_dir = args.data_dir.as_deref();
    let mut scripts = Vec::new();
    for text in &args.workload {
        let (name, weight) = split_weight(text)?;
        scripts.push((Source::builtin(name, data_dir)?, weight));
    }
    let shorthands = [(args.skip_some_updates, "simple-update"), (args.select_only, "select-only")];
    for (_, name) in shorthands.iter().filter(|(given, _)| *given) {
        scripts.push((Source::builtin(name, data_dir)?, 1));
    }
    for text in &args.script {
        let (path, weight) = split_weight(text)?;
        scripts.push((Source::read(Path::new(path))?, weight));
    }
    if scripts.is_empty() {
        scripts.push((Source::builtin(DEFAULT_WORKLOAD, data_dir)?, 1));
    }
    let name = scripts.iter().map(|(source, _)| source.name.as_str()).collect::<Vec<_>>().join("+");
    let options = CompileOptions {
        dialect,
        defines: args.define.clone(),
        allow_shell: args.allow_shell,
        prepared_asked: matches!(
            args.protocol,
            Some(ProtocolArg::Extended | ProtocolArg::Prepared)
        ),
        tables: None,
    };
    Ok(Workload::compile(&name, scripts, &options)?)
}

/// What options and scripts decide before a connection is made.
#[derive(Debug)]
pub(crate) struct Choices {
    pub(crate) protocol: Protocol,
    /// Scripts that forced the protocol to be `simple`, with the reason.
    pub(crate) simple_only: Vec<(String, String)>,
    pub(crate) seed: Seed,
    /// A built-in script needs the TPC-B-like tables.
    pub(crate) uses_tpcb: bool,
    /// Each transaction of one of the scripts updates a branch.
    pub(crate) updates_branches: bool,
}

/// Decides protocol and seed, and what the scripts need.
pub(crate) fn choices(args: &LoadArgs, workload: &Workload) -> anyhow::Result<Choices> {
    let (protocol, simple_only) = match args.protocol {
        // As in pgbench: what cannot be prepared fails when it is executed.
        Some(asked) => (asked.into(), Vec::new()),
        None => {
            let unpreparable: Vec<_> = workload
                .scripts
                .iter()
                .filter_map(|script| Some((script.name.clone(), script.not_preparable.clone()?)))
                .collect();
            match unpreparable.is_empty() {
                true => (Protocol::Prepared, unpreparable),
                false => (Protocol::Simple, unpreparable),
            }
        }
    };
    let uses_tpcb = workload.scripts.iter().any(|script| {
        let is_builtin = args.script.is_empty() || script.source.origin == Origin::Embedded;
        is_builtin && script.source.header().schema.as_deref() == Some("tpcb")
    });
    let updates_branches = workload
        .statements
        .iter()
        .any(|statement| statement.text.to_ascii_lowercase().contains("update pgbench_branches"));
    Ok(Choices { protocol, simple_only, seed: seed(args)?, uses_tpcb, updates_branches })
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
    pub(crate) workload: &'a Workload,
    pub(crate) choices: &'a Choices,
    pub(crate) scale: Option<u64>,
    /// Whether history is truncated and the tables are vacuumed before a level.
    pub(crate) maintain: bool,
}

/// The plan, with every default filled in.
pub(crate) fn plan(args: &RunArgs, found: &Found<'_>) -> RunPlan {
    let window = &args.window;
    let duration =
        window.transactions.is_none().then(|| window.duration.unwrap_or(DEFAULT_DURATION));
    let warmup = match (window.warmup, duration) {
        (Some(warmup), _) => warmup,
        (None, Some(duration)) => (duration / 6).min(LONGEST_DEFAULT_WARMUP),
        (None, None) => Duration::ZERO,
    };
    let scripts = found.workload.scripts.iter().map(|script| PlannedScript {
        name: script.name.clone(),
        weight: script.weight,
        sha256: script.source.sha256.clone(),
    });
    RunPlan {
        workload: found.workload.name.clone(),
        scale: found.scale,
        clients: args.load.clients.0.clone(),
        duration: duration.map(Span),
        transactions: window.transactions,
        warmup: Span(whole_ms(warmup)),
        interval: Span(window.interval),
        rate_per_s: window.rate,
        arrival: window.rate.map(|_| match window.arrival {
            ArrivalArg::Poisson => Arrival::Poisson,
            ArrivalArg::Constant => Arrival::Constant,
        }),
        latency_limit: window.latency_limit.map(Span),
        rounds: window.rounds,
        workers: args.load.workers.unwrap_or_else(default_workers),
        protocol: found.choices.protocol,
        seed: found.choices.seed.value,
        pgbench_sequence: found.choices.seed.pgbench,
        maintain: found.maintain,
        monitor: !args.results.no_monitor,
        grace: Span(window.grace),
        max_tries: args.errors.max_tries,
        continue_on_error: args.errors.continue_on_error,
        ignore_errors: args.errors.ignore_errors.clone(),
        exit_on_abort: args.errors.exit_on_abort,
        reconnect: !args.errors.no_reconnect,
        defines: args.load.define.clone(),
        scripts: scripts.collect(),
        targets: vec![PlannedTarget {
            name: found.target.name.clone(),
            url: found.target.target.to_string(),
        }],
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
        (None, Some(duration)) => format!(
            "{} after {} of warm-up",
            units::format_duration(duration.0),
            units::format_duration(plan.warmup.0)
        ),
        (None, None) => String::new(),
    }
}
