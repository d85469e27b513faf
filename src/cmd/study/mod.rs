//! `dbload study`: every server on every storage, measured in turn from one plan file.

mod arms;
mod storage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Parser;
use sha2::{Digest, Sha256};

use super::Exit;
use super::cells::Gathering;
use super::run::{hex, measure_cell};
use super::signals::Signals;
use crate::cli::{Cli, Command, RunArgs, StudyArgs};
use crate::compare::Question;
use crate::plan::study::{EXAMPLE, Prepare, StudyPlan, parse};
use crate::report::cells::CellsFolder;
use crate::report::{Output, Style, Talk};
use crate::study::{Cell, draw};
use crate::target::Env;
use crate::units::format_duration;

use arms::StudyArm;

/// What a cell takes beside its window: connecting, vacuum, start and stop of a server.
const AROUND_A_CELL: Duration = Duration::from_secs(3);

/// Runs the study that the plan file asks for.
pub(crate) async fn study(args: StudyArgs, env: &Env, signals: &Signals) -> anyhow::Result<Exit> {
    if args.example {
        Output::stdout().write(EXAMPLE)?;
        return Ok(Exit::Complete);
    }
    let Some(file) = &args.plan else {
        bail!("no plan file: `dbload study --example > study.toml` writes one to begin with");
    };
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("reading the plan {}", file.display()))?;
    let plan = parse(file, &text)?;
    storage::check(&plan)?;
    let order = draw(plan.seed, plan.rounds, plan.arms.len(), &plan.load.clients);
    if args.dry_run {
        Output::stdout().write(&outline(&plan, &order))?;
        return Ok(Exit::Complete);
    }
    let folder = folder(&args, &plan, file)?;
    let hash = hex(&Sha256::digest(&text));
    let gathering = Gathering::begin(folder, &text, hash, plan.seed, order.len())?;
    let talk = Talk::stderr(Style::of_stderr(args.talk.quiet || args.json));
    Study { plan: &plan, args: &args, env, signals, talk, gathering }.run(&order).await
}

/// A folder for new results, or the one that is gone on with.
fn folder(args: &StudyArgs, plan: &StudyPlan, file: &Path) -> anyhow::Result<CellsFolder> {
    let Some(begun) = &args.resume else {
        let out: Option<&PathBuf> = args.out.as_ref().or(plan.out.as_ref());
        return Ok(CellsFolder::create(out.map(PathBuf::as_path), "study")?);
    };
    let folder = CellsFolder::reopen(begun)?;
    let stored = std::fs::read_to_string(begun.join("plan.toml"))
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
fn outline(plan: &StudyPlan, order: &[Cell]) -> String {
    let mut text = String::new();
    for (cell, number) in order.iter().zip(1..) {
        let arm = &plan.arms[cell.arm].name;
        let Cell { round, clients, .. } = cell;
        text.push_str(&format!("{number:4}  round {round:2}  {arm:<24}  {clients} clients\n"));
    }
    let each = plan.settle + plan.load.warmup + plan.load.duration + AROUND_A_CELL;
    let cells = u32::try_from(order.len()).unwrap_or(u32::MAX);
    text.push_str(&format!(
        "{} runs of {} after {} of warm-up, baseline {}: about {}, and the loading of {} arms\n",
        order.len(),
        format_duration(plan.load.duration),
        format_duration(plan.load.warmup),
        plan.baseline,
        format_duration(each.saturating_mul(cells)),
        plan.arms.len()
    ));
    text
}

struct Study<'a> {
    plan: &'a StudyPlan,
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
            self.talk.say(&format!("preparing {}", arm.name));
            match StudyArm::prepare(arm, fresh) {
                Ok(prepared) => arms.push(prepared),
                Err(error) => {
                    if fresh {
                        self.gathering.discard();
                    }
                    return Err(error.context(arm.name.clone()));
                }
            }
            if self.signals.exit().is_some() {
                break;
            }
        }
        for (cell, number) in order.iter().zip(1..) {
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
        drop(arms);
        if self.gathering.is_empty() {
            if fresh {
                self.gathering.discard();
            }
            self.talk.insist("interrupted before anything was measured");
            return Ok(self.signals.exit().unwrap_or(Exit::Interrupted));
        }
        let question = Question { baseline: &self.plan.baseline, margin: self.plan.margin };
        self.gathering.finish(question, self.args.json, self.signals, &mut self.talk)
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
        let heading = format!("round {}, {}, {} clients", cell.round, plan.name, cell.clients);
        if let Some(found) = self.gathering.folder.finished(&name) {
            self.talk.say(&format!("{heading} ({number} of {of}): there already"));
            return self.gathering.add(&name, cell.round, found);
        }
        self.gathering.folder.clear(&name)?;
        self.talk.say(&format!("{heading} ({number} of {of})"));
        arm.cache(self.plan.load.cache)?;
        let running = arm.start(self.env)?;
        let settling = tokio::time::sleep(self.plan.settle);
        if self.signals.or_interrupted(settling).await.is_none() {
            return Ok(());
        }
        let args = self.run_args(&name, cell, arm.is_loaded())?;
        let found = measure_cell(&args, running.target(), self.signals, &mut self.talk).await;
        drop(running);
        if let Some(found) = found? {
            if !found.runs.is_empty() {
                arm.loaded()?;
            }
            self.gathering.add(&name, cell.round, found)?;
        }
        Ok(())
    }

    /// The cell as options of `dbload run`.
    fn run_args(&self, name: &str, cell: &Cell, loaded: bool) -> anyhow::Result<RunArgs> {
        let load = &self.plan.load;
        let seed = self.plan.seed.wrapping_add(u64::from(cell.round) - 1);
        let mut words: Vec<String> = ["dbload", "run", "--init"].map(str::to_owned).to_vec();
        let options = [
            ("--workload", load.workload.clone()),
            ("--scale", load.scale.to_string()),
            ("--clients", cell.clients.to_string()),
            ("--duration", format!("{}ms", load.duration.as_millis())),
            ("--warmup", format!("{}ms", load.warmup.as_millis())),
            ("--seed", seed.to_string()),
            ("--out", self.gathering.folder.path().join(name).display().to_string()),
        ];
        words.extend(options.into_iter().flat_map(|(option, value)| [option.to_owned(), value]));
        if load.prepare == Prepare::Reload || !loaded {
            words.push("--replace".to_owned());
        }
        match Cli::try_parse_from(words)?.command {
            Command::Run(args) => Ok(*args),
            _ => bail!("not a run"),
        }
    }
}
