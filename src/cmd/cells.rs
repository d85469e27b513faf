//! What cells of several arms add up to: merged runs, comparisons with their verdicts, the report.

use anyhow::Context;

use super::signals::Signals;
use super::{Exit, this_program};
use crate::compare::probes::compare_probes;
use crate::compare::{Question, compare_runs, fair};
use crate::report::cells::CellsFolder;
use crate::report::{Format, Output, Talk, html, report_width, text};
use crate::result::comparison::Comparison;
use crate::result::probe::Probe;
use crate::result::{Summary, Warning};
use crate::stats::verdict::MIN_ROUNDS;

/// Takes the cells in as they end.
pub(super) struct Gathering {
    pub(super) folder: CellsFolder,
    summary: Summary,
    /// Names of the arms as the plan has them; cells come in drawn order.
    arms: Vec<String>,
    /// Cells that the plan has.
    planned: usize,
    done: usize,
}

impl Gathering {
    /// Nothing is measured yet. `plan` is stored beside the results.
    pub(super) fn begin(
        folder: CellsFolder,
        arms: Vec<String>,
        plan: &str,
        plan_hash: String,
        seed: u64,
        planned: usize,
    ) -> anyhow::Result<Self> {
        folder.write("plan.toml", plan.as_bytes())?;
        folder.forget_intervals()?;
        let summary = Summary::new(this_program(), seed, plan_hash);
        folder.write_summary(&summary)?;
        Ok(Self { folder, summary, arms, planned, done: 0 })
    }

    /// Adds what a cell gave; its files are named as seen from the folder of the whole.
    pub(super) fn add(&mut self, cell: &str, round: u32, found: Summary) -> anyhow::Result<()> {
        for arm in found.arms {
            if self.summary.arms.iter().all(|known| known.name != arm.name) {
                self.summary.arms.push(arm);
            }
        }
        for warning in found.warnings {
            self.warn(warning);
        }
        if found.complete {
            self.done += 1;
        }
        self.folder.add_intervals(cell, round)?;
        for mut run in found.runs {
            run.round = round;
            run.hlog = run.hlog.map(|file| format!("{cell}/{file}"));
            for script in &mut run.scripts {
                script.file = format!("{cell}/{}", script.file);
            }
            self.summary.runs.push(run);
        }
        Ok(self.folder.write_summary(&self.summary)?)
    }

    /// Adds what fio found about the storages.
    pub(super) fn add_probes(&mut self, probes: Vec<Probe>) -> anyhow::Result<()> {
        self.summary.probes.extend(probes);
        Ok(self.folder.write_summary(&self.summary)?)
    }

    /// Compares the storages by their probes.
    pub(super) fn compare_probes(&mut self, question: Question<'_>) {
        self.summary.probe_comparisons = compare_probes(&self.summary.probes, question).comparisons;
    }

    /// Adds a warning about the whole, once.
    pub(super) fn warn(&mut self, warning: String) {
        if !self.summary.warnings.contains(&warning) {
            self.summary.warnings.push(warning);
        }
    }

    /// Says which arms have all their data in memory; `sizes` are those of tables and keys.
    pub(super) fn tell_memory(&mut self, sizes: &[(String, u64)]) {
        let memory = crate::host::machine().memory_bytes;
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, bytes) in sizes {
            let arm = self.summary.arms.iter().find(|arm| arm.name == *name);
            let Some(what) = arm.and_then(|arm| fair::in_memory(arm, *bytes, memory)) else {
                continue;
            };
            match said.iter_mut().find(|(known, _)| *known == what) {
                Some((_, names)) => names.push(name),
                None => said.push((what, vec![name])),
            }
        }
        for (what, names) in said {
            self.warn(format!("{}: {what}", names.join(", ")));
        }
    }

    /// Whether there is anything to report.
    pub(super) fn is_empty(&self) -> bool {
        self.summary.runs.is_empty()
    }

    /// Removes a folder in which nothing was measured.
    pub(super) fn discard(self) {
        self.folder.discard();
    }

    /// Compares, writes and prints.
    pub(super) fn finish(
        mut self,
        question: Question<'_>,
        format: Format,
        signals: &Signals,
        talk: &mut Talk,
    ) -> anyhow::Result<Exit> {
        talk.step_ends();
        // The baseline first: that is how differences are told.
        let place = |name: &str| {
            (name != question.baseline, self.arms.iter().position(|known| known == name))
        };
        self.summary.arms.sort_by_key(|arm| place(&arm.name));
        let mut compared = compare_runs(&self.summary.runs, question);
        let alike =
            |a: &Comparison, b: &Comparison| (&a.workload, &a.metric) == (&b.workload, &b.metric);
        for of_all_arms in compared.comparisons.chunk_by_mut(alike) {
            of_all_arms.sort_by_key(|comparison| place(&comparison.arm));
        }
        self.summary.comparisons = compared.comparisons;
        fair::qualify(&mut self.summary.comparisons, &self.summary.arms);
        for warning in compared.warnings.into_iter().chain(fair::differences(&self.summary.arms)) {
            self.warn(warning);
        }
        let rounds = self.summary.comparisons.iter().map(|found| found.rounds).min().unwrap_or(0);
        if rounds < MIN_ROUNDS {
            self.warn(format!(
                "{} no verdict: at least {MIN_ROUNDS} are needed, see --rounds or the plan",
                match rounds {
                    1 => "1 complete round gives".to_owned(),
                    _ => format!("{rounds} complete rounds give"),
                }
            ));
        }
        self.summary.complete =
            self.done == self.planned && self.summary.runs.iter().all(|run| run.complete);
        if !self.summary.complete {
            let (done, planned) = (self.done, self.planned);
            self.warn(format!("{done} of {planned} runs were measured to their end"));
        }
        let written = self.folder.write_summary(&self.summary);
        let mut is_written = written.is_ok();
        if let Err(error) = written {
            self.warn(Warning::NotWritten { why: error.to_string() }.to_string());
        } else if let Err(error) = html::write_in(self.folder.path()) {
            is_written = false;
            self.warn(Warning::NotWritten { why: error.to_string() }.to_string());
        }
        let printed = Output::stdout().write(&format.of(&self.summary, false, &[])?);
        for line in text::warnings(&self.summary, report_width()).lines() {
            talk.insist(line);
        }
        talk.insist(&format!("results: {}", self.folder.path().display()));
        printed.context("printing the report")?;
        let lost = self.summary.runs.iter().any(|run| run.clients_lost > 0);
        Ok(match signals.exit() {
            Some(exit) => exit,
            None if is_written && self.summary.complete && !lost => Exit::Complete,
            None => Exit::Impaired,
        })
    }
}
