//! Results from disk, whatever they are: what an input is, its content tells, never its name.
//!
//! A results folder is one kind, a CSV file of rates another, the output of pgbench or sysbench a
//! third.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow, bail};

use crate::compare::csv;
use crate::import;
use crate::report::html::Results;
use crate::result::summary::{Arm, Program};
use crate::result::{Run, Summary};

/// Larger files are no results: they are not read to find that out.
const MOST_BYTES: u64 = 256 << 20;

/// Reads what `path` names.
pub(super) fn read(path: &Path) -> anyhow::Result<Results> {
    let shown = path.display();
    let facts = fs::metadata(path).with_context(|| format!("reading {shown}"))?;
    if facts.is_dir() {
        return Ok(Results::read(path)?);
    }
    // Somebody points at the document in place of its folder.
    if path.file_name().is_some_and(|name| name == "summary.json") {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        return Ok(Results::read(folder.unwrap_or(Path::new(".")))?);
    }
    if facts.len() > MOST_BYTES {
        bail!("{shown} is no results file: it has {} bytes", facts.len());
    }
    let bytes = fs::read(path).with_context(|| format!("reading {shown}"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        anyhow!("{shown}, line {line}: not UTF-8 text")
    })?;
    of_text(path, &text)
}

/// Runs from a text, by what it holds.
fn of_text(path: &Path, text: &str) -> anyhow::Result<Results> {
    let shown = path.display();
    if csv::is_meant(text) {
        let rows = csv::parse(text)
            .map_err(|error| anyhow!("{shown}, line {}: {}", error.line, error.why))?;
        let runs = rows.iter().map(|row| Run::of_rate(&row.arm, row.round, row.clients, row.tps));
        return Ok(of_runs(path, "csv", runs.collect()));
    }
    if import::is_meant(text) {
        let arm = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        let found = import::parse(text, &arm).map_err(|error| anyhow!("{shown}, {error}"))?;
        let tools: BTreeSet<&str> = found.iter().map(|imported| imported.tool.as_str()).collect();
        let tools = Vec::from_iter(tools).join(", ");
        let (runs, rows): (Vec<Run>, Vec<_>) =
            found.into_iter().map(|imported| (imported.run, imported.intervals)).unzip();
        let rows = rows.into_iter().flatten().collect();
        return Ok(of_runs(path, &tools, runs).with_intervals(rows));
    }
    let first = text.lines().next().unwrap_or_default();
    let first: String = first.chars().take(60).collect();
    bail!(
        "{shown} is neither a results folder, nor a CSV file with the columns \
         ARM,round,clients,tps, nor output of pgbench or sysbench; its first line is \"{first}\""
    )
}

/// Runs that somebody else measured.
fn of_runs(path: &Path, engine: &str, runs: Vec<Run>) -> Results {
    let mut arms: Vec<Arm> = Vec::new();
    for run in &runs {
        if arms.iter().all(|arm| arm.name != run.arm) {
            arms.push(Arm {
                name: run.arm.clone(),
                target: path.display().to_string(),
                engine: engine.to_owned(),
                transport: None,
                server_version: None,
                settings: Default::default(),
                storage: None,
            });
        }
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    // Another tool's: nothing is known of a plan.
    let unknown = Program { version: String::new(), command_line: String::new() };
    let new = Summary::new(unknown, 0, String::new());
    let summary = Summary { complete: true, arms, runs, ..new };
    Results::of_summary(name, summary)
}
