//! `dbload run` with several targets: rounds in which every target is measured at every level, in
//! drawn order, and a verdict at the end.

use std::fmt::Write as _;

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};

use super::super::cells::Gathering;
use super::super::signals::Signals;
use super::{Exit, Job, MakeReady};
use crate::cli::{ClientLevels, RunArgs};
use crate::cmd::engines::on_engine;
use crate::compare::Question;
use crate::measure::Feeds;
use crate::report::Talk;
use crate::report::cells::CellsFolder;
use crate::result::Summary;
use crate::study::{Cell, draw};
use crate::target::NamedTarget;
use crate::units::plural;

/// Measures all targets in turn.
pub(super) async fn several(
    args: &RunArgs,
    targets: &[NamedTarget],
    feeds: &Feeds,
    signals: &Signals,
    talk: &mut Talk,
) -> anyhow::Result<Exit> {
    if args.load.random_seed.is_some() {
        bail!("--random-seed is for one target: give --seed N for several");
    }
    let baseline = baseline(args, targets)?;
    let seed = args.load.seed.unwrap_or_else(|| u64::from(rand::random::<u32>()));
    let order = draw(seed, args.window.rounds, targets.len(), &args.load.clients.0);
    let folder = CellsFolder::create(args.results.out.as_deref(), "comparison")?;
    let plan = plan(args, targets, baseline, seed);
    match make_ready(args, targets, signals, talk).await {
        Ok(true) => {}
        Ok(false) => {
            folder.discard();
            talk.insist("interrupted before anything was measured");
            return Ok(signals.exit().unwrap_or(Exit::Interrupted));
        }
        Err(error) => {
            folder.discard();
            return Err(error);
        }
    }
    let names = targets.iter().map(|named| named.name.clone()).collect();
    let hash = hex(&Sha256::digest(&plan));
    let mut gathering = Gathering::begin(folder, names, &plan, hash, seed, order.len())?;
    for (cell, number) in order.iter().zip(1..) {
        let named = &targets[cell.arm];
        let args = cell_args(args, cell, seed, &gathering, named);
        talk.step_ends();
        talk.say(&format!(
            "round {}, {}, {} ({number} of {})",
            cell.round,
            named.name,
            plural(cell.clients, "client"),
            order.len()
        ));
        match measure_with(feeds, &args, named, signals, talk).await {
            Ok(Some(found)) => {
                let name = CellsFolder::cell(cell.round, &named.name, cell.clients);
                gathering.add(&name, cell.round, found)?;
            }
            Ok(None) => {}
            Err(error) if gathering.is_empty() => {
                gathering.discard();
                return Err(error.context(named.name.clone()));
            }
            Err(error) => {
                gathering.warn(format!("{} could not be measured: {error:#}", named.name));
                break;
            }
        }
        if signals.exit().is_some() {
            break;
        }
    }
    if gathering.is_empty() {
        gathering.discard();
        talk.insist("interrupted before anything was measured");
        return Ok(signals.exit().unwrap_or(Exit::Interrupted));
    }
    let question = Question { baseline, margin: args.compare.margin };
    gathering.finish(question, args.results.format.format(), signals, talk)
}

/// Looks at every target, and loads it where that is asked for, before the first is measured: what
/// is wrong with the last one must not cost the time of all the others. False when a signal came.
async fn make_ready(
    args: &RunArgs,
    targets: &[NamedTarget],
    signals: &Signals,
    talk: &mut Talk,
) -> anyhow::Result<bool> {
    for named in targets {
        let job = MakeReady(Job::new(args, named, signals, talk)?);
        let ready = on_engine(&named.target, args.init, job).await;
        if ready.with_context(|| named.name.clone())? != Exit::Complete {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The name of the target that the others are compared with.
fn baseline<'a>(args: &'a RunArgs, targets: &'a [NamedTarget]) -> anyhow::Result<&'a str> {
    let first = targets.first().map(|target| target.name.as_str()).context("no target")?;
    let Some(asked) = args.compare.baseline.as_deref() else { return Ok(first) };
    if targets.iter().any(|target| target.name == asked) {
        return Ok(asked);
    }
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    bail!("--baseline \"{asked}\" is no target: give one of {}", names.join(", "))
}

/// The options of one cell: one level, once.
fn cell_args(
    args: &RunArgs,
    cell: &Cell,
    seed: u64,
    gathering: &Gathering,
    named: &NamedTarget,
) -> RunArgs {
    let mut args = args.clone();
    let name = CellsFolder::cell(cell.round, &named.name, cell.clients);
    args.results.out = Some(gathering.folder.path().join(name));
    args.load.clients = ClientLevels(vec![cell.clients]);
    // The arms of a round do the same, each round something else.
    args.load.seed = Some(seed.wrapping_add(u64::from(cell.round) - 1));
    args.window.rounds = 1;
    // Every target is loaded by now.
    args.init = false;
    args.tables.replace = false;
    args
}

/// Measures one cell; nothing when a signal came first.
pub(in crate::cmd) async fn measure_cell(
    args: &RunArgs,
    named: &NamedTarget,
    signals: &Signals,
    talk: &mut Talk,
) -> anyhow::Result<Option<Summary>> {
    measure_with(&Feeds::default(), args, named, signals, talk).await
}

async fn measure_with(
    feeds: &Feeds,
    args: &RunArgs,
    named: &NamedTarget,
    signals: &Signals,
    talk: &mut Talk,
) -> anyhow::Result<Option<Summary>> {
    let mut found = None;
    let mut job = Job::new(args, named, signals, talk)?;
    job.feeds = feeds.clone();
    job.sink = Some(&mut found);
    on_engine(&named.target, args.init, job).await?;
    Ok(found)
}

/// The plan of the whole, for people and for its hash; each cell has its own in full.
fn plan(args: &RunArgs, targets: &[NamedTarget], baseline: &str, seed: u64) -> String {
    let mut plan = format!(
        "rounds = {}\nseed = {seed}\nmargin = {}\nbaseline = {baseline:?}\nclients = {:?}\n",
        args.window.rounds, args.compare.margin, args.load.clients.0
    );
    for NamedTarget { name, target, .. } in targets {
        let url = target.to_string();
        plan.push_str(&format!("\n[[target]]\nname = {name:?}\nurl = {url:?}\n"));
    }
    plan
}

/// Bytes in hexadecimal.
pub(in crate::cmd) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
