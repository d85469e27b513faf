//! All levels of a run, round after round; the results folder is complete after each.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::monitor::HostWatch;
use super::observe::{Place, Watch};
use super::result::{Frame, run_of};
use super::{Interrupt, MeasureError, settings};
use crate::engine::{Engine, ServerFacts};
use crate::host::HostMonitor;
use crate::plan::RunPlan;
use crate::report::live::RunHeading;
use crate::report::{FolderError, HistogramLog, ResultFolder, Talk};
use crate::result::{Summary, Warning};
use crate::runner::Level;
use crate::runner::crew::{Launch, StartError};
use crate::runner::level::{Outcome, measure};
use crate::runner::load::tables;
use crate::schema::files::SchemaSql;
use crate::workload::Workload;

/// A sweep that is about to begin.
pub(crate) struct Sweep<'a> {
    pub(crate) plan: &'a RunPlan,
    pub(crate) workload: &'a Arc<Workload>,
    pub(crate) sql: SchemaSql,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) talk: &'a mut Talk,
    pub(crate) folder: &'a mut ResultFolder,
    pub(crate) summary: Summary,
    pub(crate) script_files: Vec<String>,
    /// What the server says about itself.
    pub(crate) facts: &'a ServerFacts,
    /// Watches the machine; absent with `--no-monitor`.
    pub(crate) host: Option<HostMonitor>,
    /// Each error is shown as it comes.
    pub(crate) show_errors: bool,
}

impl Sweep<'_> {
    /// Measures level after level. Nothing when a signal came before anything was measured.
    pub(crate) async fn run<E: Engine>(
        mut self,
        engine: &Arc<E>,
    ) -> Result<Option<Summary>, MeasureError> {
        let levels = self.plan.clients.clone();
        let of = levels.len() * self.plan.rounds as usize;
        let mut number = 0;
        for round in 1..=self.plan.rounds {
            for &clients in &levels {
                number += 1;
                let place = Place {
                    arm: self.plan.targets[0].name.clone(),
                    round,
                    workload: self.plan.workload.clone(),
                    clients,
                };
                match self.level(engine, place, number, of).await {
                    Ok(true) => {}
                    Ok(false) => {
                        self.summary.warnings.push(format!(
                            "interrupted: {} of {of} runs were begun, the rest is missing",
                            self.summary.runs.len()
                        ));
                        return Ok(self.ended());
                    }
                    // What was measured before is kept and shown.
                    Err(error) if !self.summary.runs.is_empty() => {
                        self.summary.warnings.push(format!(
                            "the level of {clients} clients could not be measured: {error}"
                        ));
                        return Ok(self.ended());
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        self.summary.complete = self.summary.runs.iter().all(|run| run.complete);
        Ok(self.ended())
    }

    /// Percentile tables of a run that is over.
    fn write_tables(&self, log: &HistogramLog, outcome: &Outcome) -> Result<(), FolderError> {
        log.write_table(self.folder, "service", &outcome.total.latency())?;
        match outcome.total.open() {
            Some(open) => log.write_table(self.folder, "response", &open.response),
            None => Ok(()),
        }
    }

    fn ended(self) -> Option<Summary> {
        self.talk.step_ends();
        (!self.summary.runs.is_empty()).then_some(self.summary)
    }

    /// One level; false when a signal ended the sweep.
    async fn level<E: Engine>(
        &mut self,
        engine: &Arc<E>,
        place: Place,
        number: usize,
        of: usize,
    ) -> Result<bool, MeasureError> {
        if self.plan.maintain {
            // A connection of its own: the one before may have ended with the server.
            let maintaining = async {
                let mut admin = engine.admin().await?;
                Ok::<_, MeasureError>(tables::before_level(&mut admin, self.sql).await?)
            };
            let maintained = self.interrupt.or_interrupted(maintaining).await;
            match maintained {
                Some(result) => result?,
                None => return Ok(false),
            }
        }
        self.talk.run_begins(&RunHeading {
            arm: None,
            workload: &place.workload,
            clients: place.clients,
            round: (self.plan.rounds > 1).then_some(place.round),
            number,
            of,
        });
        let settings = settings::level(self.plan, place.clients, self.show_errors);
        let level = Level::new(Arc::clone(self.workload), settings.clone());
        let mut watch = Watch {
            place: place.clone(),
            workload: self.workload,
            folder: self.folder,
            talk: self.talk,
            histograms: None,
            host: self.host.as_ref().map(|monitor| HostWatch::new(monitor, self.facts.local)),
            write_error: None,
            sweep: SweepClock::new(self.plan, number, of),
        };
        let interrupted = self.interrupt.receiver();
        let outcome = measure(engine, level, Launch::Threads, interrupted, &mut watch).await;
        let mut write_error = watch.write_error.take();
        let histograms = watch.histograms.take();
        let host = watch.host.take();
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(StartError::Interrupted) => return Ok(false),
            Err(error) => return Err(MeasureError::of_start(error, place.clients)),
        };
        let host = host.and_then(|host| host.counters(outcome.total.committed()));
        if let Some(log) = &histograms
            && let Err(error) = self.write_tables(log, &outcome)
        {
            write_error.get_or_insert_with(|| error.to_string());
        }
        let frame = Frame {
            place: &place,
            histograms: histograms.as_ref().map(HistogramLog::name),
            settings: &settings,
            workload: self.workload,
            scale: self.plan.scale,
            script_files: &self.script_files,
            checkpoint_s: self.facts.checkpoint_s,
            host,
            worker_per_client: E::BLOCKING,
        };
        // A signal before the window leaves nothing to say; clients lost before it do.
        if !outcome.measured.is_zero() || !outcome.interrupted {
            self.summary.runs.push(run_of(&frame, &outcome));
        }
        let written = self.folder.write_summary(&self.summary);
        let not_written = write_error.or(written.err().map(|error| error.to_string()));
        if let Some(why) = not_written {
            let warning = Warning::NotWritten { why }.to_string();
            if !self.summary.warnings.contains(&warning) {
                self.talk.insist(&format!("warning: {warning}"));
                self.summary.warnings.push(warning);
            }
        }
        Ok(!outcome.interrupted)
    }
}

/// Where a sweep stands in time, for the progress bar.
#[derive(Debug)]
pub(crate) struct SweepClock {
    number: usize,
    of: usize,
    /// Of one level with its warm-up; unknown where transactions are counted.
    level: Option<Duration>,
    began: Instant,
}

impl SweepClock {
    fn new(plan: &RunPlan, number: usize, of: usize) -> Self {
        let level = plan.duration.map(|duration| duration.0 + plan.warmup.0);
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
