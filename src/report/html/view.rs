//! What the template shows: text, and numbers that were made text.

use std::collections::BTreeSet;

use serde::Serialize;

use super::groups::Groups;
use super::headline::headline;
use super::input::Results;
use super::repeat::repeat;
use super::tables::{self, Table};
use super::tiles::{Tile, tiles};
use super::words::{self, Sentence};
use crate::report::text::without_figures;
use crate::result::Summary;
use crate::result::environment::Storage;
use crate::result::summary::Arm;
use crate::units::{format_bytes, plural};

/// What stands where nothing is known.
pub(super) const UNKNOWN: &str = "not recorded";

/// The whole page.
#[derive(Debug, Serialize)]
pub(super) struct View {
    title: String,
    question: String,
    verdict: Sentence,
    /// One for each comparison, where there are several.
    verdicts: Vec<Sentence>,
    /// The figures that a person looks for first.
    tiles: Vec<Tile>,
    load: Vec<Fact>,
    arms: Table,
    settings: Table,
    warnings: Vec<Warning>,
    /// Where the runs are not all there.
    incomplete: bool,
    workloads: Vec<String>,
    levels: Vec<u32>,
    /// How many there are, in words, and the number of the last.
    rounds: String,
    last_round: u32,
    single_arm: bool,
    open: bool,
    clients: Table,
    forest: Table,
    relative: Option<Table>,
    latency: Table,
    steadiness: Table,
    explored: Option<Table>,
    dip_events: Option<Table>,
    has_server: bool,
    /// Another tool measured, and told nothing but throughputs.
    only_rates: bool,
    /// What the verdicts are about.
    metric: &'static str,
    costs: Vec<Table>,
    runs: Table,
    has_intervals: bool,
    has_percentiles: bool,
    events: String,
    environment: Vec<Fact>,
    all_settings: Table,
    plan: Option<String>,
    scripts: Vec<Fact>,
    command: String,
    version: String,
    seed: String,
    plan_hash: String,
}

/// A name and what it is.
#[derive(Debug, Serialize)]
pub(super) struct Fact {
    name: String,
    value: String,
}

/// A warning, and the runs that it is about.
#[derive(Debug, Serialize)]
struct Warning {
    text: String,
    runs: Vec<String>,
}

fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact { name: name.to_owned(), value: value.into() }
}

impl View {
    /// Everything that the page says about `results`.
    pub(super) fn of(results: &Results, groups: &Groups<'_>) -> Self {
        let summary = &results.summary;
        let mut levels: Vec<u32> = groups.levels.concat();
        levels.sort_unstable();
        levels.dedup();
        let warnings = warnings(summary);
        let primaries = words::primaries(summary);
        let verdicts = match primaries.as_slice() {
            [_] => Vec::new(),
            all => all.iter().map(|one| words::of_comparison(one, groups)).collect(),
        };
        Self {
            title: title(results, groups),
            question: words::question(groups),
            verdict: headline(summary, groups),
            verdicts,
            tiles: tiles(summary, groups, warnings.len()),
            load: load(results, groups),
            arms: arms(results),
            settings: settings(&summary.arms, true),
            warnings,
            incomplete: !summary.complete,
            workloads: groups.workloads.clone(),
            levels,
            rounds: summary.rounds(),
            last_round: summary.runs.iter().map(|run| run.round).max().unwrap_or(0),
            single_arm: groups.arms.len() < 2,
            open: summary.runs.iter().any(super::data::is_open),
            clients: tables::clients(groups),
            forest: tables::forest(summary),
            relative: tables::relative(summary, groups),
            latency: tables::latency(groups),
            steadiness: tables::steadiness(groups),
            explored: tables::explored(summary),
            dip_events: tables::dip_events(groups),
            has_server: !super::data::moving(results).is_empty(),
            metric: words::metric(summary),
            only_rates: summary.runs.iter().all(|run| !run.knows("transactions")),
            costs: tables::costs(groups),
            runs: tables::runs(summary),
            has_intervals: results.has_intervals(),
            has_percentiles: results.percentiles.iter().any(|table| !table.is_empty()),
            events: events(results),
            environment: environment(results),
            all_settings: settings(&summary.arms, false),
            plan: results.plan.clone(),
            scripts: scripts(results),
            command: repeat(summary),
            version: summary.dbload.version.clone(),
            seed: summary.seed.to_string(),
            plan_hash: summary.plan_hash.clone(),
        }
    }
}

fn title(results: &Results, groups: &Groups<'_>) -> String {
    let what = match groups.arms.as_slice() {
        [] => results.name.clone(),
        arms if arms.len() > 4 => format!("{} arms", arms.len()),
        arms => arms.join(" vs "),
    };
    let workloads = words::listed(&groups.workloads, "and");
    if workloads.is_empty() { what } else { format!("{what}: {workloads}") }
}

/// What was done, in a few words each.
fn load(results: &Results, groups: &Groups<'_>) -> Vec<Fact> {
    let summary = &results.summary;
    let distinct = |of: fn(&crate::result::Run) -> Option<String>| {
        let values: BTreeSet<String> = summary.runs.iter().filter_map(of).collect();
        Vec::from_iter(values).join(", ")
    };
    let window = distinct(|run| match (run.asked_s, run.asked_transactions) {
        (Some(seconds), _) => Some(format!("{} s", words::plain(seconds))),
        (_, Some(count)) => Some(format!("{count} transactions of each client")),
        _ => None,
    });
    let rate = distinct(|run| run.rate_per_s.map(|rate| format!("{} tps", words::plain(rate))));
    let scale = distinct(|run| run.scale.map(|scale| scale.to_string()));
    let levels = groups.levels.iter().zip(&groups.workloads).map(|(levels, workload)| {
        let clients: Vec<String> = levels.iter().map(ToString::to_string).collect();
        let clients = format!("{} {}", words::listed(&clients, "and"), words::clients(levels));
        if workload.is_empty() { clients } else { format!("{workload} with {clients}") }
    });
    let knows = |field: &str| summary.runs.iter().all(|run| run.knows(field));
    let named = groups.workloads.iter().any(|workload| !workload.is_empty());
    let mut facts = vec![
        fact(if named { "workload" } else { "clients" }, levels.collect::<Vec<_>>().join("; ")),
        fact("window", window),
        fact(
            "rounds",
            format!("{}, {} in all", summary.rounds(), plural(summary.runs.len() as u64, "run")),
        ),
        fact("protocol", distinct(|run| run.knows("protocol").then(|| protocol(run)))),
        fact(
            "load",
            match rate.is_empty() {
                _ if !knows("rate_per_s") => String::new(),
                true => "closed loop".to_owned(),
                false => format!("open loop at {rate}"),
            },
        ),
    ];
    let connections = distinct(|run| match (&run.connect_ms, run.pool) {
        (Some(_), _) => Some("a new one for every transaction".to_owned()),
        (None, Some(size)) => Some(format!("a pool of {size}")),
        (None, None) => None,
    });
    let ramp = distinct(|run| {
        run.ramp_s.map(|seconds| format!("clients join over {} s", words::plain(seconds)))
    });
    let session = distinct(|run| (!run.session_sql.is_empty()).then(|| run.session_sql.join("; ")));
    let added = [("connections", connections), ("ramp", ramp), ("session", session)];
    let added = added.into_iter().filter(|(_, value)| !value.is_empty());
    facts.extend(added.map(|(name, value)| fact(name, value)));
    if !scale.is_empty() {
        facts.insert(1, fact("scale", scale));
    }
    let (known, unknown): (Vec<Fact>, Vec<Fact>) =
        facts.into_iter().partition(|fact| !fact.value.is_empty());
    facts = known;
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.into_iter().map(|fact| fact.name).collect();
        facts.push(fact(UNKNOWN, names.join(", ")));
    }
    facts
}

fn protocol(run: &crate::result::Run) -> String {
    format!("{}{}", run.protocol, if run.pipeline { ", pipelined" } else { "" })
}

fn storage_of(results: &Results, arm: &Arm) -> Option<Storage> {
    let recorded = || results.environment.as_ref()?.storage.get(&arm.name).cloned().flatten();
    arm.storage.clone().or_else(recorded)
}

fn arms(results: &Results) -> Table {
    let mut table =
        Table::new(&["arm", "server", "file system", "device", "mount options", "target"]);
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    for (index, arm) in results.summary.arms.iter().enumerate() {
        let storage = storage_of(results, arm);
        let of = |get: fn(&Storage) -> Option<String>| known(storage.as_ref().and_then(get));
        let version = arm.server_version.clone().unwrap_or_else(|| arm.engine.clone());
        let device = of(|storage| {
            let more = [&storage.scheduler, &storage.write_cache];
            let more: Vec<&str> = more.into_iter().flatten().map(String::as_str).collect();
            let device = storage.device.clone()?;
            Some(if more.is_empty() { device } else { format!("{device} ({})", more.join(", ")) })
        });
        table.row_of_arm(
            index,
            &arm.name,
            vec![
                version,
                of(|storage| storage.file_system.clone()),
                device,
                of(|storage| storage.mount_options.clone()),
                arm.target.clone(),
            ],
        );
    }
    table.without_empty_columns(UNKNOWN)
}

/// Settings by arm; those that differ, or all.
fn settings(arms: &[Arm], only_differing: bool) -> Table {
    let mut columns = vec!["setting"];
    columns.extend(arms.iter().map(|arm| arm.name.as_str()));
    let mut table = Table::new(&columns);
    let names: BTreeSet<&String> = arms.iter().flat_map(|arm| arm.settings.keys()).collect();
    for name in names {
        let values: Vec<Option<&String>> = arms.iter().map(|arm| arm.settings.get(name)).collect();
        let differ = values.iter().any(|value| *value != values[0]);
        if differ || !only_differing {
            let text = |value: Option<&String>| value.map_or("default", String::as_str).to_owned();
            table.row(name, values.into_iter().map(text).collect());
        }
    }
    table
}

/// Those of the whole, and those of runs, each once for all runs in which it differs in its figures
/// at most.
fn warnings(summary: &Summary) -> Vec<Warning> {
    let mut all: Vec<Warning> =
        summary.warnings.iter().map(|text| Warning { text: text.clone(), runs: vec![] }).collect();
    for run in &summary.runs {
        let place = format!("{} r{} c{} {}", run.arm, run.round, run.clients, run.workload);
        for text in &run.warnings {
            let alike = |known: &&mut Warning| {
                !known.runs.is_empty() && without_figures(&known.text) == without_figures(text)
            };
            match all.iter_mut().find(alike) {
                Some(known) if known.text == *text => known.runs.push(place.clone()),
                Some(known) => known.runs.push(format!("{place}: {text}")),
                None => all.push(Warning { text: text.clone(), runs: vec![place.clone()] }),
            }
        }
    }
    all
}

/// What is marked in the charts over time.
fn events(results: &Results) -> String {
    let Some(events) = &results.events else {
        return "events: not recorded".to_owned();
    };
    let kinds: BTreeSet<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    let counted: Vec<String> = kinds
        .iter()
        .map(|kind| {
            let count = events.iter().filter(|event| event.kind == *kind).count();
            plural(count as u64, &kind.replace('_', " "))
        })
        .collect();
    if counted.is_empty() {
        "no events".to_owned()
    } else {
        format!("events: {}", counted.join(", "))
    }
}

fn environment(results: &Results) -> Vec<Fact> {
    let Some(environment) = &results.environment else {
        return vec![fact("machine", UNKNOWN)];
    };
    let machine = &environment.machine;
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let number = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
    let mut facts = vec![
        fact("kernel", known(&machine.kernel)),
        fact("processor", known(&machine.cpu)),
        fact("processors used", number(machine.cpus.map(|cpus| cpus.to_string()))),
        fact("memory", number(machine.memory_bytes.map(format_bytes))),
        fact("frequency governor", known(&machine.governor)),
    ];
    for (arm, storage) in &environment.storage {
        let Some(storage) = storage else {
            facts.push(fact(&format!("storage of {arm}"), UNKNOWN));
            continue;
        };
        let geometry = storage.geometry.iter().map(|(name, value)| format!("{name} {value}"));
        let parts = [
            Some(storage.data_dir.clone()),
            storage.file_system.clone(),
            storage.mount_point.as_ref().map(|mount| format!("mounted at {mount}")),
            storage.mount_options.clone(),
            storage.device.clone(),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().chain(geometry).collect();
        facts.push(fact(&format!("storage of {arm}"), parts.join("; ")));
    }
    facts
}

/// The scripts' texts, with where they came from and their hashes.
fn scripts(results: &Results) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for script in results.summary.runs.iter().flat_map(|run| &run.scripts) {
        let name = format!("{} ({}, SHA-256 {})", script.name, script.source, script.sha256);
        if facts.iter().all(|fact| fact.name != name) {
            let text = results.scripts.iter().find(|(file, _)| *file == script.file);
            facts.push(fact(&name, text.map_or(UNKNOWN, |(_, text)| text.as_str())));
        }
    }
    facts
}
