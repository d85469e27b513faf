//! What a load tells while it works and when it has ended. The printing is elsewhere: a bar on a
//! terminal, plain lines otherwise.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::SchemaSize;
use crate::script::Dialect;
use crate::units::format_bytes;

/// A step of `dbload init`, in order; the names are those of pgbench's last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadStep {
    /// Old tables are dropped.
    Drop,
    /// Tables are made.
    Create,
    /// Rows are sent.
    Load,
    /// Tables are vacuumed and analyzed.
    Vacuum,
    /// Tables are analyzed, where there is nothing to vacuum.
    Analyze,
    /// Primary keys are made.
    Keys,
    /// Secondary indexes are made.
    Indexes,
    /// Foreign keys are made.
    ForeignKeys,
}

impl LoadStep {
    /// The step that leaves tables with statistics.
    pub(super) fn statistics(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Postgres => Self::Vacuum,
            Dialect::Mysql | Dialect::Sqlite => Self::Analyze,
        }
    }

    /// The step's name in the timing line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop tables",
            Self::Create => "create tables",
            Self::Load => "client-side generate",
            Self::Vacuum => "vacuum",
            Self::Analyze => "analyze",
            Self::Keys => "primary keys",
            Self::Indexes => "secondary indexes",
            Self::ForeignKeys => "foreign keys",
        }
    }

    /// What is happening, in an error's text.
    pub fn action(self) -> &'static str {
        match self {
            Self::Drop => "dropping old tables",
            Self::Create => "creating tables",
            Self::Load => "loading rows",
            Self::Vacuum => "vacuuming",
            Self::Analyze => "analyzing",
            Self::Keys => "creating primary keys",
            Self::Indexes => "creating secondary indexes",
            Self::ForeignKeys => "creating foreign keys",
        }
    }

    /// What is happening, as a line of progress.
    pub fn doing(self) -> String {
        format!("{}...", self.action())
    }
}

/// Told how a load goes on. All calls come from the thread that awaits the load.
pub trait LoadProgress {
    /// A step begins.
    fn step(&mut self, step: LoadStep);
    /// Of the rows of all tables, `done` of `total` are written; `size_bytes` is the space that the
    /// finished tables are expected to take. Called many times a second: throttle the printing.
    fn rows(&mut self, done: u64, total: u64, size_bytes: u64);
    /// A fact worth a line, for example that tables are used again.
    fn note(&mut self, text: &str);
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl LoadProgress for Silent {
    fn step(&mut self, _: LoadStep) {}
    fn rows(&mut self, _: u64, _: u64, _: u64) {}
    fn note(&mut self, _: &str) {}
}

/// What a load did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InitReport {
    /// What was loaded.
    pub size: SchemaSize,
    /// Rows written, all tables.
    pub rows: u64,
    /// Connections that loaded.
    pub jobs: u32,
    /// Size of the tables and their keys; absent when the engine does not tell.
    pub size_bytes: Option<u64>,
    /// The steps that were done, with their time in seconds.
    pub steps: Vec<StepTime>,
}

/// How long a step took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepTime {
    /// The step.
    pub step: LoadStep,
    /// Its time.
    pub time_s: f64,
}

impl InitReport {
    /// Time of all steps together.
    pub fn time(&self) -> Duration {
        Duration::from_secs_f64(self.steps.iter().map(|step| step.time_s).sum())
    }
}

impl fmt::Display for InitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loaded {} rows", self.rows)?;
        match self.size {
            SchemaSize::Tpcb { scale } => write!(f, " at scale {scale}")?,
            SchemaSize::Sbtest { tables, .. } => {
                write!(f, " into {tables} table{}", if tables == 1 { "" } else { "s" })?;
            }
        }
        write!(f, " over {} connection{}", self.jobs, if self.jobs == 1 { "" } else { "s" })?;
        if let Some(bytes) = self.size_bytes {
            write!(f, ", {} on disk", format_bytes(bytes))?;
        }
        write!(f, "\ndone in {:.2} s (", self.time().as_secs_f64())?;
        for (i, step) in self.steps.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{} {:.2} s", step.step.name(), step.time_s)?;
        }
        f.write_str(").")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_ends_with_the_steps_and_their_times() {
        let report = InitReport {
            size: SchemaSize::Tpcb { scale: 2 },
            rows: 200_022,
            jobs: 1,
            size_bytes: Some(31_457_280),
            steps: vec![
                StepTime { step: LoadStep::Drop, time_s: 0.01 },
                StepTime { step: LoadStep::Load, time_s: 1.5 },
                StepTime { step: LoadStep::Keys, time_s: 0.25 },
            ],
        };
        assert_eq!(
            report.to_string(),
            "loaded 200022 rows at scale 2 over 1 connection, 30.0 MB on disk\n\
             done in 1.76 s (drop tables 0.01 s, client-side generate 1.50 s, primary keys 0.25 s)."
        );
    }
}
