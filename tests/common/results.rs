//! Reads a results folder back, from the description of the files and not with dbload's own types.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A results folder.
pub(crate) struct Results {
    /// Where it is.
    pub(crate) folder: PathBuf,
    /// `summary.json`.
    pub(crate) summary: Value,
    /// `intervals.csv`.
    pub(crate) intervals: Vec<Interval>,
}

/// One row of `intervals.csv`, as far as tests look at it.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
pub(crate) struct Interval {
    pub(crate) arm: String,
    pub(crate) round: u64,
    pub(crate) workload: String,
    pub(crate) clients: u64,
    pub(crate) interval: u64,
    pub(crate) start_s: f64,
    pub(crate) length_s: f64,
    pub(crate) partial: bool,
    pub(crate) transactions: u64,
    pub(crate) failed: u64,
}

impl Results {
    /// Reads the folder; fails the test when a file of every run is missing.
    #[track_caller]
    pub(crate) fn read(folder: &Path) -> Self {
        for name in ["summary.json", "intervals.csv", "plan.toml", "environment.json"] {
            assert!(folder.join(name).is_file(), "no {name} in {}", folder.display());
        }
        let summary = fs::read_to_string(folder.join("summary.json")).expect("summary.json");
        Self {
            folder: folder.to_owned(),
            summary: serde_json::from_str(&summary).expect("summary.json is JSON"),
            intervals: read_intervals(folder),
        }
    }

    /// The entries of `runs[]`.
    pub(crate) fn runs(&self) -> &[Value] {
        self.summary["runs"].as_array().expect("runs[]")
    }

    /// The only run.
    #[track_caller]
    pub(crate) fn run(&self) -> &Value {
        let [run] = self.runs() else { panic!("{} runs in place of one", self.runs().len()) };
        run
    }

    /// The clients of each run, in order.
    pub(crate) fn levels(&self) -> Vec<u64> {
        self.runs().iter().map(|run| number(run, "clients")).collect()
    }

    /// The intervals of `run`.
    pub(crate) fn intervals_of(&self, run: &Value) -> Vec<&Interval> {
        let same = |row: &&Interval| {
            run["arm"] == row.arm.as_str()
                && run["workload"] == row.workload.as_str()
                && run["round"] == row.round
                && run["clients"] == row.clients
        };
        self.intervals.iter().filter(same).collect()
    }

    /// Fails the test unless the rows of every run are without a gap, cover its duration and add
    /// up to its figures.
    #[track_caller]
    pub(crate) fn assert_consistent(&self) {
        assert_eq!(self.summary["schema"], "dbload/summary/1");
        assert!(!self.runs().is_empty(), "no runs");
        for run in self.runs() {
            let rows = self.intervals_of(run);
            let level = format!("{} clients in {}", run["clients"], self.folder.display());
            let sum = |of: fn(&Interval) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
            assert_eq!(sum(|r| r.transactions), number(run, "transactions"), "{level}");
            assert_eq!(sum(|r| r.failed), number(&run["failed"], "total"), "{level}");

            let duration_s = run["duration_s"].as_f64().expect("duration_s");
            let length_s: f64 = rows.iter().map(|row| row.length_s).sum();
            assert!((length_s - duration_s).abs() < 0.01, "{length_s} s, {duration_s} s, {level}");
            for pair in rows.windows(2) {
                let edge_s = pair[0].start_s + pair[0].length_s;
                assert!((pair[1].start_s - edge_s).abs() < 0.001, "a gap in {level}: {pair:?}");
            }
            let tps = run["tps"].as_f64().expect("tps");
            let transactions = run["transactions"].as_f64().expect("transactions");
            assert!((tps * duration_s - transactions).abs() < 1.0, "{level}: tps {tps}");
        }
    }
}

/// The rows of `intervals.csv` so far; none when the file is not there yet.
pub(crate) fn read_intervals(folder: &Path) -> Vec<Interval> {
    let Ok(mut reader) = csv::Reader::from_path(folder.join("intervals.csv")) else {
        return Vec::new();
    };
    // A row that is being written at this moment cannot be read yet.
    reader.deserialize().map_while(Result::ok).collect()
}

/// A count in a JSON object.
#[track_caller]
pub(crate) fn number(object: &Value, key: &str) -> u64 {
    object[key].as_u64().unwrap_or_else(|| panic!("{key} is {} in {object}", object[key]))
}
