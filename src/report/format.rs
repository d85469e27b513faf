//! What is printed on standard output: one report in several forms.

use super::spark::Marks;
use super::text::{self, Look};
use super::{csv, report_width};
use crate::result::Summary;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables for the terminal.
    Text,
    /// Tables for an issue or a wiki.
    Markdown,
    /// A row for each run.
    Csv,
    /// A row for each ratio to the baseline.
    RatioCsv,
    /// `summary.json`.
    Json,
}

impl Format {
    /// The report of `summary`; a text has the figures of each statement with `statements`, and a
    /// line of marks for each run that has a `series`.
    pub fn of(
        self,
        summary: &Summary,
        statements: bool,
        series: &[Vec<f64>],
    ) -> Result<String, serde_json::Error> {
        let look = Look { width: report_width(), statements };
        Ok(match self {
            Self::Text => text::report_with_series(summary, look, series, Marks::of_process()),
            Self::Markdown => text::markdown(summary),
            Self::Csv => csv::runs(summary),
            Self::RatioCsv => csv::ratios(summary),
            Self::Json => summary.to_json()?,
        })
    }
}
