//! `summary.json`: everything that was measured in one document, without the time series.
//!
//! A figure that is not known is `null`, never 0. A reader refuses a version it does not know.
//! `docs/output.md` defines every key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::comparison::Comparison;
use super::environment::Storage;
use super::probe::Probe;
use super::run::Run;

/// The version of `summary.json` that this program writes and reads.
pub const SCHEMA: &str = "dbload/summary/1";

/// The whole document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name and version of the format: [`SCHEMA`].
    pub schema: String,
    /// The program that measured.
    pub dbload: Program,
    /// Seed of every random stream.
    pub seed: u64,
    /// SHA-256 of the plan, in hexadecimal.
    pub plan_hash: String,
    /// All that the plan asked for was measured. `false` while a run goes on.
    pub complete: bool,
    /// Warnings about the whole; those about one run are in the run.
    pub warnings: Vec<String>,
    /// What was measured: one entry per target.
    pub arms: Vec<Arm>,
    /// One entry per measured run, in the order of measuring.
    pub runs: Vec<Run>,
    /// Arms against the baseline; empty with one arm.
    pub comparisons: Vec<Comparison>,
    /// What fio found about the storages of a study; empty where it was not asked.
    #[serde(default)]
    pub probes: Vec<Probe>,
    /// Storages against that of the baseline, by their probes.
    #[serde(default)]
    pub probe_comparisons: Vec<Comparison>,
}

/// The program that measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Version of dbload.
    pub version: String,
    /// The command line, with secrets removed.
    pub command_line: String,
}

/// One side of a comparison, or the only one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arm {
    /// Name that runs refer to.
    pub name: String,
    /// URL of the database, with secrets removed.
    pub target: String,
    /// `postgres`, `mysql`, `mariadb` or `sqlite`.
    pub engine: String,
    /// How it was reached: `socket`, `tcp` or `tls`.
    pub transport: Option<String>,
    /// Version as the server states it.
    pub server_version: Option<String>,
    /// Server settings that differ from their default.
    pub settings: BTreeMap<String, String>,
    /// Where the data is, when that can be found out.
    pub storage: Option<Storage>,
}

/// Why a document could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not the fields of this version.
    #[error("not a summary of dbload: {0}")]
    Format(#[from] serde_json::Error),
    /// A version that this program does not know.
    #[error(
        "the format is \"{found}\", and this dbload reads \"{SCHEMA}\": use the version of dbload \
         that wrote it, or a newer one"
    )]
    UnknownSchema {
        /// The version that the document names.
        found: String,
    },
}

/// The part of a document that every version has.
#[derive(Deserialize)]
struct Versioned {
    schema: String,
}

impl Summary {
    /// Results of a plan, of which nothing is there yet.
    pub fn new(dbload: Program, seed: u64, plan_hash: String) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            dbload,
            seed,
            plan_hash,
            complete: false,
            warnings: Vec::new(),
            arms: Vec::new(),
            runs: Vec::new(),
            comparisons: Vec::new(),
            probes: Vec::new(),
            probe_comparisons: Vec::new(),
        }
    }

    /// The document as text, indented, with a newline at the end.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Reads a document; one of another version is refused before any other field is looked at.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        let Versioned { schema } = serde_json::from_str(text)?;
        if schema != SCHEMA {
            return Err(ReadError::UnknownSchema { found: schema });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// How many rounds there are: `5`, or `5 to 6` where arms, workloads or levels have more than
    /// others.
    pub fn rounds(&self) -> String {
        let mut counts: BTreeMap<(&str, &str, u32), usize> = BTreeMap::new();
        for run in &self.runs {
            *counts.entry((&run.arm, &run.workload, run.clients)).or_default() += 1;
        }
        match (counts.values().min(), counts.values().max()) {
            (Some(fewest), Some(most)) if fewest != most => format!("{fewest} to {most}"),
            (Some(all), _) => all.to_string(),
            _ => "0".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused_before_its_fields_are_looked_at() {
        let error = Summary::from_json(r#"{"schema":"dbload/summary/2","new":[]}"#).unwrap_err();
        assert!(matches!(error, ReadError::UnknownSchema { .. }), "{error}");
        assert!(error.to_string().contains("dbload/summary/2"), "{error}");
    }

    #[test]
    fn text_that_is_no_summary_is_refused() {
        for text in ["", "[]", "{}", r#"{"schema":"dbload/summary/1"}"#] {
            let error = Summary::from_json(text).unwrap_err();
            assert!(matches!(error, ReadError::Format(_)), "{text}: {error}");
        }
    }
}
