//! `dbload study`: every server on every storage, measured in turn from one plan file.

mod arms;
mod probes;
mod ready;
mod steps;
mod storage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};

use super::Exit;
use super::cells::Gathering;
use super::engines::on_engine;
use super::run::{hex, measure_cell};
use super::signals::Signals;
use crate::cli::{ClientLevels, RunArgs, StudyArgs};
use crate::compare::Question;
use crate::plan::study::{ArmPlan, Cache, EXAMPLE, Prepare, StudyPlan, parse};
use crate::report::cells::CellsFolder;
use crate::report::{Output, Style, Talk};
use crate::result::distinct;
use crate::stats::verdict::MIN_ROUNDS;
use crate::study::{Cell, draw};
use crate::target::Env;
use crate::units::{format_duration, format_time_left, plural};

use arms::{Running, StudyArm};
use probes::Probes;
use steps::{Group, Steps};

/// What a cell takes beside its window: connecting, vacuum, start and stop of a server.
const AROUND_A_CELL: Duration = Duration::from_secs(3);

/// Runs the study that the plan file asks for.
pub(crate) async fn study(args: StudyArgs, env: &Env, signals: &Signals) -> anyhow::Result<Exit> {
    if args.example {
        Output::stdout().write(EXAMPLE)?;
        return Ok(Exit::Complete);
    }
    // A study that was begun has its plan with it.
    let begun = args.resume.as_deref().map(plan_of).transpose()?;
    let Some(file) = args.plan.as_ref().or(begun.as_ref()) else {
        bail!("no plan file: `dbload study --example > study.toml` writes one to begin with");
    };
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("reading the plan {}", file.display()))?;
    let plan = parse(file, &text)?;
    let steps = steps::read(&plan)?;
    arms::check(&plan)?;
    probes::check(&plan)?;
    storage::check(&plan, &steps)?;
    let order = draw(plan.seed, plan.rounds, plan.arms.len(), &plan.load.clients);
    if args.dry_run {
        Output::stdout().write(&outline(&plan, &steps, &order))?;
        return Ok(Exit::Complete);
    }
    let folder = folder(&args, &plan, file)?;
    let hash = hex(&Sha256::digest(&text));
    let names = plan.arms.iter().map(|arm| arm.name.clone()).collect();
    let cells = order.len() * steps.groups.len();
    let gathering = Gathering::begin(folder, names, &text, hash, plan.seed, cells)?;
    let talk = Talk::stderr(Style::of_stderr(args.talk.quiet));
    let study = Study { plan: &plan, steps: &steps, args: &args, env, signals, talk, gathering };
    Box::pin(study.run(&order)).await
}

/// The plan of a study that was begun.
fn plan_of(folder: &Path) -> anyhow::Result<PathBuf> {
    let plan = folder.join("plan.toml");
    if !plan.is_file() {
        bail!(
            "{} holds no study that was begun, or nothing was measured of it: begin without --resume",
            folder.display()
        );
    }
    Ok(plan)
}

/// A folder for new results, or the one that is gone on with.
fn folder(args: &StudyArgs, plan: &StudyPlan, file: &Path) -> anyhow::Result<CellsFolder> {
    let Some(begun) = &args.resume else {
        let out: Option<&PathBuf> = args.out.as_ref().or(plan.out.as_ref());
        return Ok(CellsFolder::create(out.map(PathBuf::as_path), "study")?);
    };
    let folder = CellsFolder::reopen(begun)?;
    let stored = std::fs::read_to_string(plan_of(begun)?)
        .with_context(|| format!("reading the plan in {}", begun.display()))?;
    if stored != plan.text {
        bail!(
            "{} is not the plan that {} was begun with: go on with that one ({}/plan.toml), or \
             begin anew without --resume",
            file.display(),
            begun.display(),
            begun.display()
        );
    }
    Ok(folder)
}

/// What would be done, in which order, and for how long.
fn outline(plan: &StudyPlan, steps: &Steps, order: &[Cell]) -> String {
    let mut text = String::new();
    for (cell, number) in order.iter().zip(1..) {
        let arm = &plan.arms[cell.arm].name;
        let (round, clients) = (cell.round, plural(cell.clients, "client"));
        text.push_str(&format!("{number:4}  round {round:2}  {arm:<24}  {clients}\n"));
    }
    let workloads = u32::try_from(steps.names.len()).unwrap_or(u32::MAX);
    let load = &plan.load;
    let measuring =
        (load.ramp.unwrap_or_default() + load.warmup + load.duration).saturating_mul(workloads);
    let each = plan.settle + measuring + AROUND_A_CELL;
    let cells = u32::try_from(order.len()).unwrap_or(u32::MAX);
    if let [_, _, ..] = &steps.names[..] {
        text.push_str(&format!("each runs {}, one after the other\n", steps.names.join(", ")));
    }
    let mut whole = each.saturating_mul(cells);
    if let Some(probe) = &plan.probe {
        let storages = distinct(plan.arms.iter().map(|arm| arm.storage.as_str()));
        let jobs = u32::try_from(2 * storages.len()).unwrap_or(u32::MAX);
        whole += probe.duration.saturating_mul(jobs).saturating_mul(plan.rounds);
        text.push_str(&format!(
            "before each round fio on {}, {} for each of two jobs\n",
            storages.join(", "),
            format_duration(probe.duration)
        ));
    }
    text.push_str(&format!(
        "{} runs of {} after {} of warm-up, baseline {}: about {}, and the loading of {} arms\n",
        cells.saturating_mul(workloads),
        format_duration(load.duration),
        format_duration(load.warmup),
        plan.baseline,
        format_time_left(whole),
        plan.arms.len()
    ));
    if plan.rounds < MIN_ROUNDS {
        text.push_str(&format!(
            "no verdict from {}: {MIN_ROUNDS} or more give one\n",
            plural(plan.rounds, "round")
        ));
    }
    text
}

struct Study<'a> {
    plan: &'a StudyPlan,
    steps: &'a Steps,
    args: &'a StudyArgs,
    env: &'a Env,
    signals: &'a Signals,
    talk: Talk,
    gathering: Gathering,
}

impl Study<'_> {
    async fn run(mut self, order: &[Cell]) -> anyhow::Result<Exit> {
        let fresh = self.args.resume.is_none();
        let mut arms = Vec::new();
        for arm in &self.plan.arms {
            match self.prepare(arm, fresh).await {
                Ok(Some(prepared)) => arms.push(prepared),
                Ok(None) => break,
                Err(error) => {
                    if fresh {
                        self.gathering.discard();
                    }
                    return Err(error.context(arm.name.clone()));
                }
            }
        }
        let probes = Probes::new(self.plan, self.gathering.folder.path());
        let mut probed = 0;
        for (cell, number) in order.iter().zip(1..) {
            if let Some(probes) = probes.as_ref().filter(|_| cell.round > probed) {
                probed = cell.round;
                self.probe(probes, cell.round).await;
            }
            if self.signals.exit().is_some() {
                break;
            }
            match self.cell(&mut arms[cell.arm], cell, number, order.len()).await {
                Ok(()) => {}
                Err(error) if self.gathering.is_empty() => {
                    if fresh {
                        self.gathering.discard();
                    }
                    return Err(error.context(self.plan.arms[cell.arm].name.clone()));
                }
                Err(error) => {
                    let name = &self.plan.arms[cell.arm].name;
                    self.gathering.warn(format!("{name} could not be measured: {error:#}"));
                    break;
                }
            }
        }
        let sizes: Vec<(String, u64)> = arms.iter().filter_map(StudyArm::size).collect();
        drop(arms);
        if self.plan.load.cache != Cache::Cold {
            self.gathering.tell_memory(&sizes);
        }
        if self.gathering.is_empty() {
            if fresh {
                self.gathering.discard();
            }
            self.talk.insist("interrupted before anything was measured");
            return Ok(self.signals.exit().unwrap_or(Exit::Interrupted));
        }
        if let Some(arm) = self.plan.arms.iter().find(|arm| arm.name == self.plan.baseline) {
            let question = Question { baseline: &arm.storage, margin: self.plan.margin };
            self.gathering.compare_probes(question);
        }
        let question = Question { baseline: &self.plan.baseline, margin: self.plan.margin };
        self.gathering.finish(question, self.args.format.format(), self.signals, &mut self.talk)
    }

    /// Probes the storages before a round. The study goes on without what fails.
    async fn probe(&mut self, probes: &Probes, round: u32) {
        match probes.round(round, self.signals, &mut self.talk).await {
            Ok(Some(found)) => {
                if let Err(error) = self.gathering.add_probes(found) {
                    self.gathering.warn(format!("probes could not be stored: {error:#}"));
                }
            }
            Ok(None) => {}
            Err(error) => self.gathering.warn(format!("a probe failed: {error:#}")),
        }
    }

    /// One cell: kept where it is there, else measured on a server of its own.
    async fn cell(
        &mut self,
        arm: &mut StudyArm,
        cell: &Cell,
        number: usize,
        of: usize,
    ) -> anyhow::Result<()> {
        let plan = &self.plan.arms[cell.arm];
        let name = CellsFolder::cell(cell.round, &plan.name, cell.clients);
        self.talk.step_ends();
        let clients = plural(cell.clients, "client");
        let heading = format!("round {}, {}, {clients}", cell.round, plan.name);
        let folders: Vec<String> =
            (1..=self.steps.groups.len()).map(|number| part(&name, number)).collect();
        let found: Vec<_> =
            folders.iter().map_while(|part| self.gathering.folder.finished(part)).collect();
        if found.len() == folders.len() {
            self.talk.say(&format!("{heading} ({number} of {of}): there already"));
            for (part, found) in folders.iter().zip(found) {
                self.gathering.add(part, cell.round, found)?;
            }
            return Ok(());
        }
        for part in &folders {
            self.gathering.folder.clear(part)?;
        }
        self.talk.say(&format!("{heading} ({number} of {of})"));
        let Some(running) = self.ready(arm).await? else { return Ok(()) };
        for (part, group) in folders.iter().zip(&self.steps.groups) {
            let args = self.run_args(part, cell, group)?;
            let found = measure_cell(&args, running.target(), self.signals, &mut self.talk).await?;
            if let Some(mut found) = found {
                arms::add_settings(&mut found, plan);
                self.gathering.add(part, cell.round, found)?;
            }
            if self.signals.exit().is_some() {
                break;
            }
        }
        self.stop(running).await;
        Ok(())
    }

    /// Stops a server in order; false when a signal came, and then in seconds.
    async fn stop(&mut self, running: Running) -> bool {
        self.signals.or_interrupted(running.stop()).await.is_some()
    }

    /// Makes an arm and loads its tables; nothing when a signal came. Loads are over before the first
    /// cell: what is measured right after its load is in another state than what comes later.
    async fn prepare(&mut self, arm: &ArmPlan, fresh: bool) -> anyhow::Result<Option<StudyArm>> {
        if self.signals.exit().is_some() {
            return Ok(None);
        }
        self.talk.say(&format!("preparing {}", arm.name));
        let preparing = self.signals.or_interrupted(StudyArm::prepare(arm, fresh));
        let Some(prepared) = preparing.await.transpose()? else { return Ok(None) };
        if !prepared.is_loaded() {
            let starting = self.signals.or_interrupted(prepared.start(self.env));
            let Some(running) = starting.await.transpose()? else { return Ok(None) };
            let Some(size_bytes) = self.load(&running).await? else { return Ok(None) };
            if !self.stop(running).await {
                return Ok(None);
            }
            if self.plan.load.prepare == Prepare::Template {
                let keeping = self.signals.or_interrupted(prepared.keep());
                if keeping.await.transpose()?.is_none() {
                    return Ok(None);
                }
            }
            prepared.loaded(size_bytes)?;
        }
        Ok(Some(prepared))
    }

    /// Loads the tables and returns the space they take; nothing when a signal came.
    async fn load(&mut self, running: &Running) -> anyhow::Result<Option<u64>> {
        let mut size_bytes = 0;
        let load = ready::Load {
            sizes: &self.steps.sizes,
            seed: self.plan.seed,
            talk: &mut self.talk,
            signals: self.signals,
            size_bytes: &mut size_bytes,
        };
        let exit = on_engine(&running.target().target, true, load).await?;
        Ok((exit == Exit::Complete).then_some(size_bytes))
    }

    /// Starts the arm with its tables as a cell finds them; nothing when a signal came.
    async fn ready(&mut self, arm: &mut StudyArm) -> anyhow::Result<Option<Running>> {
        if self.plan.load.prepare == Prepare::Template {
            self.talk.say("restoring the data from the template...");
            let restoring = self.signals.or_interrupted(arm.restore());
            if restoring.await.transpose()?.is_none() {
                return Ok(None);
            }
        }
        arm.cache(self.plan.load.cache)?;
        let starting = self.signals.or_interrupted(arm.start(self.env));
        let Some(running) = starting.await.transpose()? else { return Ok(None) };
        let settling = tokio::time::sleep(self.plan.settle);
        if self.signals.or_interrupted(settling).await.is_none() {
            return Ok(None);
        }
        if self.plan.load.prepare == Prepare::Reload && self.load(&running).await?.is_none() {
            return Ok(None);
        }
        on_engine(&running.target().target, false, ready::ResetStatistics).await?;
        Ok(Some(running))
    }

    /// One folder of a cell as options of `dbload run`.
    fn run_args(&self, folder: &str, cell: &Cell, group: &Group) -> anyhow::Result<RunArgs> {
        let load = &self.plan.load;
        let mut args = steps::default_run()?;
        args.load.sequence = group.sequence.clone();
        args.load.clients = ClientLevels(vec![cell.clients]);
        args.load.seed = Some(self.plan.seed.wrapping_add(u64::from(cell.round) - 1));
        args.load.pipeline = load.pipeline;
        args.sessions.connect = load.connect;
        args.sessions.pool = load.pool.map(|pool| pool.value);
        args.sessions.session_sql.clone_from(&load.session_sql);
        args.window.duration = Some(load.duration);
        args.window.ramp = load.ramp;
        args.window.warmup = Some(load.warmup);
        args.results.out = Some(self.gathering.folder.path().join(folder));
        Ok(args)
    }
}

/// The folder of a cell's part: workloads of other tables than those before have one of their own.
fn part(cell: &str, number: usize) -> String {
    if number == 1 { cell.to_owned() } else { format!("{cell}.{number}") }
}
