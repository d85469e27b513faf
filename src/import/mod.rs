//! The output of other load drivers becomes runs: what pgbench (13 to 18) and sysbench (1.0, 1.1)
//! print, one run or several in one file as a loop in a shell leaves them, with other lines
//! between; and pgbench's aggregate log.
//!
//! Pure: text to runs. What a tool does not tell is named in [`Run::unknown`] and holds nothing.
//! Counts of an interval are its printed rate times its length, rounded: the tools print no others.
//! A run that is cut off, and a line of a tool that does not hold what it should, is an error with
//! the number of the line.

mod aggregate;
mod lines;
mod pgbench;
mod pgbench_lines;
mod sysbench;

use std::collections::HashMap;

use lines::{Line, lines, wrong};

use crate::result::{IntervalRow, Run};

/// A run that another tool measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The tool with its version, as far as that is known: `pgbench 18.3`, `sysbench 1.0.20`.
    pub tool: String,
    /// The run. Its arm is the one that was asked for, its round counts runs of the same workload
    /// and clients.
    pub run: Run,
    /// Its intervals, where the tool reported some.
    pub intervals: Vec<IntervalRow>,
}

/// Why a text is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct ImportError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
}

/// Whether the text is such an output: one of its lines starts a run, or it is an aggregate log.
pub fn is_meant(text: &str) -> bool {
    aggregate::is_meant(text)
        || lines(text).any(|line| pgbench::starts(line.text) || sysbench::starts(line.text))
}

/// Reads all runs of a text, in their order. Their arm is `arm`.
pub fn parse(text: &str, arm: &str) -> Result<Vec<Imported>, ImportError> {
    let mut runs = match aggregate::is_meant(text) {
        true => vec![aggregate::parse(text)?],
        false => of_reports(text)?,
    };
    let mut rounds: HashMap<(String, u32), u32> = HashMap::new();
    for Imported { run, intervals, .. } in &mut runs {
        let round = rounds.entry((run.workload.clone(), run.clients)).or_default();
        *round += 1;
        run.round = *round;
        arm.clone_into(&mut run.arm);
        for (row, number) in intervals.iter_mut().zip(1..) {
            arm.clone_into(&mut row.arm);
            run.workload.clone_into(&mut row.workload);
            (row.round, row.clients, row.interval) = (run.round, run.clients, number);
        }
    }
    Ok(runs)
}

/// A run whose lines are being read.
enum Open {
    Pgbench(pgbench::Report),
    Sysbench(sysbench::Report),
}

impl Open {
    /// Takes in a line; one that is not the tool's changes nothing.
    fn take(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        match self {
            Self::Pgbench(report) => report.take(line),
            Self::Sysbench(report) => report.take(line),
        }
    }

    /// Whether this line belongs to another run.
    fn ends_before(&self, line: Line<'_>) -> bool {
        match self {
            Self::Pgbench(report) => report.ends_before(line.text),
            Self::Sysbench(report) => report.ends_before(line.text),
        }
    }

    fn finish(self) -> Result<Imported, ImportError> {
        match self {
            Self::Pgbench(report) => report.finish(),
            Self::Sysbench(report) => report.finish(),
        }
    }
}

fn of_reports(text: &str) -> Result<Vec<Imported>, ImportError> {
    let mut runs = Vec::new();
    let mut open: Option<Open> = None;
    for line in lines(text) {
        if open.as_ref().is_some_and(|open| open.ends_before(line)) {
            runs.extend(open.take().map(Open::finish).transpose()?);
        }
        match &mut open {
            Some(open) => open.take(line)?,
            None if pgbench::starts(line.text) => {
                let mut report = pgbench::Report::new(line.number);
                report.take(line)?;
                open = Some(Open::Pgbench(report));
            }
            None if sysbench::starts(line.text) => {
                let mut report = sysbench::Report::new(line.number);
                report.take(line)?;
                open = Some(Open::Sysbench(report));
            }
            // A line of the loop around the tool.
            None => {}
        }
    }
    runs.extend(open.map(Open::finish).transpose()?);
    if runs.is_empty() {
        return Err(wrong(1, "no run of pgbench or sysbench is in this text"));
    }
    Ok(runs)
}
