//! `host.csv` and `server.csv`: one row per sample, absolute figures and what they grew by.
//!
//! A sample belongs to the end of an interval; the one at the start of the window has number 0.

use std::fmt::Write;

use super::folder::{FolderError, ResultFolder};
use crate::result::counters::{Column, Kind, Values, growth};

/// The columns before the figures.
pub const LEADING: [&str; 7] =
    ["arm", "round", "workload", "clients", "interval", "at_s", "length_s"];

/// A file of samples.
#[derive(Debug)]
pub struct SampleFile {
    /// Its name in the folder.
    pub name: &'static str,
    /// Its figures.
    pub columns: &'static [Column],
    /// A last column of text.
    pub text: Option<&'static str>,
}

/// What was sampled.
#[derive(Debug, Clone, Copy)]
pub struct SampleRow<'a> {
    /// Name of the arm.
    pub arm: &'a str,
    /// Round, from 1.
    pub round: u32,
    /// Name of the workload.
    pub workload: &'a str,
    /// Clients of the run.
    pub clients: u32,
    /// The interval that ended, from 1; 0 at the start of the window.
    pub interval: u32,
    /// Seconds after the start of the window.
    pub at_s: f64,
    /// The figures.
    pub values: &'a Values,
    /// The sample before it in the same run, and its time.
    pub before: Option<(&'a Values, f64)>,
    /// What the last column holds, where there is one of text.
    pub text: &'a str,
}

/// The header of a file of samples.
fn header(columns: &[Column], text: Option<&str>) -> String {
    let mut cells: Vec<String> = LEADING.iter().map(ToString::to_string).collect();
    for column in columns {
        cells.push(column.name.to_owned());
        if column.kind == Kind::Total {
            cells.push(format!("{}_delta", column.name));
        }
    }
    cells.extend(text.map(str::to_owned));
    cells.join(",")
}

impl SampleFile {
    /// Adds a row; the first one makes the file.
    pub fn append(
        &self,
        folder: &mut ResultFolder,
        row: &SampleRow<'_>,
    ) -> Result<(), FolderError> {
        let line = self.line(row);
        folder.append_line(self.name, || header(self.columns, self.text), &line)
    }

    fn line(&self, row: &SampleRow<'_>) -> String {
        let SampleRow { arm, round, workload, clients, interval, at_s, .. } = row;
        let (arm, workload) = (cell(arm), cell(workload));
        let mut line = format!("{arm},{round},{workload},{clients},{interval},{at_s:.6},");
        let grown = row.before.map(|(before, _)| growth(self.columns, before, row.values));
        push(&mut line, row.before.map(|(_, before_s)| at_s - before_s), 6);
        for (index, column) in self.columns.iter().enumerate() {
            line.push(',');
            push(&mut line, row.values.get(index).copied().flatten(), 3);
            if column.kind == Kind::Total {
                line.push(',');
                let grown = grown.as_ref().and_then(|grown| grown.get(index).copied().flatten());
                push(&mut line, grown, 3);
            }
        }
        if self.text.is_some() {
            line.push(',');
            line.push_str(&cell(row.text));
        }
        line
    }
}

/// Whole numbers without decimals, unknown ones as nothing.
fn push(line: &mut String, value: Option<f64>, decimals: usize) {
    // Writing to a string cannot fail.
    let _ = match value {
        Some(value) if value.fract() == 0.0 => write!(line, "{value:.0}"),
        Some(value) => write!(line, "{value:.decimals$}"),
        None => Ok(()),
    };
}

/// A text as a cell of CSV.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: SampleFile = SampleFile {
        name: "host.csv",
        columns: &[
            Column { name: "reads", kind: Kind::Total },
            Column { name: "dirty_kib", kind: Kind::Gauge },
            Column { name: "busy_ms", kind: Kind::Total },
        ],
        text: Some("waits"),
    };

    #[test]
    fn rows_hold_figures_and_their_growth_since_the_row_before() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = ResultFolder::create(&parent.path().join("out")).unwrap();
        let first = vec![Some(1000.0), Some(5.0), None];
        let second = vec![Some(1040.0), Some(3.0), Some(2.5)];
        let mut row = SampleRow {
            arm: "a",
            round: 1,
            workload: "x,\"y\"",
            clients: 2,
            interval: 0,
            at_s: 0.0,
            values: &first,
            before: None,
            text: "a,b",
        };
        FILE.append(&mut folder, &row).unwrap();
        row.interval = 1;
        row.at_s = 1.0025;
        row.values = &second;
        row.before = Some((&first, 0.0));
        row.text = "";
        FILE.append(&mut folder, &row).unwrap();
        let text = std::fs::read_to_string(folder.path().join("host.csv")).unwrap();
        assert_eq!(
            text,
            "arm,round,workload,clients,interval,at_s,length_s,\
             reads,reads_delta,dirty_kib,busy_ms,busy_ms_delta,waits\n\
             a,1,\"x,\"\"y\"\"\",2,0,0.000000,,1000,,5,,,\"a,b\"\n\
             a,1,\"x,\"\"y\"\"\",2,1,1.002500,1.002500,1040,40,3,2.500,,\n"
        );
        let mut reader = csv::Reader::from_path(folder.path().join("host.csv")).unwrap();
        assert!(reader.records().all(|row| &row.unwrap()[2] == "x,\"y\""));
    }
}
