//! All levels of a run, round after round; the results folder is complete after each.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::monitor::{HostWatch, ServerWatch};
use super::observe::{Place, Watch};
use super::records::Records;
use super::result::{Frame, run_of};
use super::upkeep::Upkeep;
use super::{Feeds, Interrupt, MeasureError, settings};
use crate::engine::{Engine, ServerFacts};
use crate::host::HostMonitor;
use crate::plan::RunPlan;
use crate::report::histograms::{CONNECT, POOL_WAIT};
use crate::report::live::RunHeading;
use crate::report::{ResultFolder, Talk};
use crate::result::{Summary, Warning};
use crate::runner::Level;
use crate::runner::crew::{Launch, StartError};
use crate::runner::level::measure;
use crate::runner::monitor::monitor;
use crate::units::plural;
use crate::workload::{TableCount, Workload};

/// A sweep that is about to begin.
pub(crate) struct Sweep<'a> {
    pub(crate) plan: &'a RunPlan,
    /// One after the other; the plan has their protocols.
    pub(crate) workloads: &'a [Arc<Workload>],
    /// Absent for scripts of the user's.
    pub(crate) upkeep: Option<Upkeep>,
    /// The sysbench tables, where they play a part.
    pub(crate) tables: Option<TableCount>,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) talk: &'a mut Talk,
    pub(crate) folder: &'a mut ResultFolder,
    pub(crate) summary: Summary,
    /// Paths of the texts of each workload's scripts.
    pub(crate) script_files: Vec<Vec<String>>,
    /// What the server says about itself.
    pub(crate) facts: &'a ServerFacts,
    /// Watches the machine; absent with `--no-monitor`.
    pub(crate) host: Option<HostMonitor>,
    /// What other programs get.
    pub(crate) feeds: &'a Feeds,
    /// Each error is shown as it comes.
    pub(crate) show_errors: bool,
}

impl Sweep<'_> {
    /// Measures level after level. Nothing when a signal came before anything was measured.
    pub(crate) async fn run<E: Engine>(
        mut self,
        engine: &Arc<E>,
    ) -> Result<Option<Summary>, MeasureError> {
        let plan = self.plan;
        let workloads = 0..self.workloads.len();
        let of = plan.clients.len() * workloads.len() * plan.rounds as usize;
        let levels = (1..=plan.rounds)
            .flat_map(|round| workloads.clone().map(move |workload| (round, workload)))
            .flat_map(|(round, workload)| {
                plan.clients.iter().map(move |clients| (round, workload, *clients))
            });
        for ((round, workload, clients), number) in levels.zip(1..) {
            let place = Place {
                arm: plan.targets[0].name.clone(),
                round,
                workload: self.workloads[workload].name.clone(),
                clients,
            };
            let name = place.workload.clone();
            match self.level(engine, workload, place, number, of).await {
                Ok(true) => {}
                Ok(false) => {
                    let begun = self.summary.runs.len();
                    if begun < of {
                        self.summary.warnings.push(format!(
                            "interrupted: {begun} of {of} runs were begun, the rest is missing"
                        ));
                    }
                    return Ok(self.ended());
                }
                // What was measured before is kept and shown.
                Err(error) if !self.summary.runs.is_empty() => {
                    self.summary.warnings.push(format!(
                        "{name} could not be measured at {}: {error}",
                        plural(clients, "client")
                    ));
                    return Ok(self.ended());
                }
                Err(error) => return Err(error),
            }
        }
        self.summary.complete = self.summary.runs.iter().all(|run| run.complete);
        Ok(self.ended())
    }

    fn ended(self) -> Option<Summary> {
        self.talk.step_ends();
        (!self.summary.runs.is_empty()).then_some(self.summary)
    }

    /// Brings the tables into the state that a level begins with: what is to be said about it;
    /// nothing when a signal came.
    async fn maintain<E: Engine>(
        &mut self,
        engine: &Arc<E>,
        index: usize,
    ) -> Result<Option<Vec<Warning>>, MeasureError> {
        let Some(upkeep) = &self.upkeep else { return Ok(Some(Vec::new())) };
        let maintaining = upkeep.before(engine, &self.workloads[index], self.talk);
        self.interrupt.or_interrupted(maintaining).await.transpose()
    }

    fn announce(&mut self, place: &Place, number: usize, of: usize) {
        self.talk.run_begins(&RunHeading {
            arm: None,
            workload: &place.workload,
            clients: place.clients,
            round: (self.plan.rounds > 1).then_some(place.round),
            number,
            of,
        });
    }

    /// One level; false when a signal ended the sweep.
    async fn level<E: Engine>(
        &mut self,
        engine: &Arc<E>,
        index: usize,
        place: Place,
        number: usize,
        of: usize,
    ) -> Result<bool, MeasureError> {
        let Some(notes) = self.maintain(engine, index).await? else { return Ok(false) };
        let workload = &self.workloads[index];
        self.announce(&place, number, of);
        let settings = settings::level(
            self.plan,
            self.plan.workloads[index].protocol,
            place.clients,
            self.show_errors,
            self.feeds.log.is_some(),
        );
        let level = Level::new(Arc::clone(workload), settings.clone());
        let host = self.host.as_ref().map(|monitor| HostWatch::new(monitor, self.facts.local));
        let (server, edges, readings) = ServerWatch::new();
        let mut watch = Watch {
            place: place.clone(),
            folder: self.folder,
            talk: self.talk,
            records: Records::new(
                place.clone(),
                workload,
                if self.plan.pool.is_some() { POOL_WAIT } else { CONNECT },
                host,
                self.plan.monitor.then_some(server),
                self.feeds.log,
            ),
            feeds: self.feeds,
            retries: settings.max_tries != 1,
            ramp: settings.ramp,
            limited: settings.latency_limit.is_some(),
            write_error: None,
            sweep: SweepClock::new(self.plan, number, of),
        };
        let interrupted = self.interrupt.receiver();
        let measuring = async {
            let outcome = measure(engine, level, Launch::Threads, interrupted, &mut watch).await;
            watch.records.last_edge();
            outcome
        };
        let monitoring = async {
            if self.plan.monitor {
                monitor(engine, edges, readings).await;
            }
        };
        let outcome = beside(Box::pin(measuring), Box::pin(monitoring)).await;
        let Watch { records, write_error, .. } = watch;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(StartError::Interrupted) => return Ok(false),
            Err(error) => return Err(MeasureError::of_start(error, place.clients)),
        };
        // A signal before the window leaves nothing to write; clients lost before it do.
        if outcome.measured.is_zero() && outcome.interrupted {
            return Ok(false);
        }
        let mut recorded = records.finish(self.folder, &outcome);
        let write_error = write_error.or(recorded.write_error.take());
        let frame = Frame {
            place: &place,
            recorded,
            settings: &settings,
            workload,
            scale: self.plan.scale,
            tables: self.tables,
            notes: &notes,
            script_files: &self.script_files[index],
            checkpoint_s: self.facts.checkpoint_s,
            worker_per_client: E::BLOCKING,
        };
        self.summary.runs.push(run_of(&frame, &outcome));
        let written = self.folder.write_summary(&self.summary);
        if let Some(why) = write_error.or(written.err().map(|error| error.to_string())) {
            self.warn_once(&Warning::NotWritten { why });
        }
        if outcome.interrupted {
            return Ok(false);
        }
        self.settle(engine).await
    }

    /// Looks after the tables when a level is over; false when a signal ended the sweep.
    async fn settle<E: Engine>(&mut self, engine: &Arc<E>) -> Result<bool, MeasureError> {
        let Some(upkeep) = &self.upkeep else { return Ok(true) };
        let settling = upkeep.after(engine, self.talk);
        let Some(refused) = self.interrupt.or_interrupted(settling).await else { return Ok(false) };
        if let Some(warning) = refused? {
            self.warn_once(&warning);
        }
        Ok(true)
    }

    fn warn_once(&mut self, warning: &Warning) {
        let warning = warning.to_string();
        if !self.summary.warnings.contains(&warning) {
            self.talk.insist(&format!("warning: {warning}"));
            self.summary.warnings.push(warning);
        }
    }
}

/// How long the last answer about a window may come after it.
const LAST_ANSWER: Duration = Duration::from_secs(1);

/// Measures, with the monitor beside it.
async fn beside<T>(
    mut measuring: impl Future<Output = T> + Unpin,
    mut monitoring: impl Future<Output = ()> + Unpin,
) -> T {
    tokio::select! {
        outcome = &mut measuring => {
            let _late = timeout(LAST_ANSWER, monitoring).await;
            outcome
        }
        () = &mut monitoring => measuring.await,
    }
}

/// Where a sweep stands in time, for the progress bar.
#[derive(Debug)]
pub(crate) struct SweepClock {
    number: usize,
    of: usize,
    /// Of one level with its ramp and its warm-up; unknown where transactions are counted.
    level: Option<Duration>,
    began: Instant,
}

impl SweepClock {
    fn new(plan: &RunPlan, number: usize, of: usize) -> Self {
        let ramp = plan.ramp.map_or(Duration::ZERO, |ramp| ramp.0);
        let level = plan.duration.map(|duration| ramp + plan.warmup.0 + duration.0);
        Self { number, of, level, began: Instant::now() }
    }

    /// Moves the bar on.
    pub(super) fn show(&self, talk: &mut Talk) {
        #[expect(clippy::cast_precision_loss, reason = "a share for the eye")]
        let (before, of) = ((self.number - 1) as f64, self.of as f64);
        match self.level {
            Some(level) if !level.is_zero() => {
                let passed = self.began.elapsed().min(level);
                let rest = u32::try_from(self.of - self.number).unwrap_or(u32::MAX);
                let left = level.saturating_mul(rest) + (level - passed);
                let done = (before + passed.as_secs_f64() / level.as_secs_f64()) / of;
                talk.sweep(self.number, self.of, done, Some(left));
            }
            _ => talk.sweep(self.number, self.of, before / of, None),
        }
    }
}
