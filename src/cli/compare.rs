//! Options of commands that compare arms.

use std::path::PathBuf;

use clap::Args;

use crate::compare::gate::Gate;
use crate::report::Format;
use crate::units::parse_percent;

/// How several targets are compared.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct CompareArgs {
    /// With several targets: the one that the others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// With several targets: a difference below it does not matter
    #[arg(long, value_name = "PERCENT", default_value = "3%",
        value_parser = margin)]
    pub(crate) margin: f64,
}

/// `dbload compare`
#[derive(Debug, Args)]
pub(crate) struct CompareFilesArgs {
    /// Results folders, also of single runs, or a CSV file with the columns ARM,round,clients,tps;
    /// NAME=PATH names the arm of a folder, and a name given again is its next round
    #[arg(value_name = "[NAME=]PATH", required = true)]
    pub(crate) inputs: Vec<String>,
    /// The arm that the others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// A difference below it does not matter [default: that of the results, else 3%]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub(crate) margin: Option<f64>,
    /// Exit with 3 when it holds: faster, slower or different, such as 'slower>5%'; it holds when
    /// the whole confidence interval lies beyond
    #[arg(long, value_name = "CONDITION", value_parser = gate)]
    pub(crate) fail_if: Option<Gate>,
    /// Compare although the loads differ
    #[arg(long)]
    pub(crate) force: bool,
    /// Write a page into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print tables in Markdown
    #[arg(long, conflicts_with = "csv")]
    pub(crate) markdown: bool,
    /// Print the ratios as CSV
    #[arg(long)]
    pub(crate) csv: bool,
}

impl CompareFilesArgs {
    /// The form of the report.
    pub(crate) fn format(&self) -> Format {
        match (self.markdown, self.csv) {
            (true, _) => Format::Markdown,
            (_, true) => Format::RatioCsv,
            _ => Format::Text,
        }
    }
}

fn gate(text: &str) -> Result<Gate, String> {
    text.parse()
}

fn margin(text: &str) -> Result<f64, String> {
    let margin = parse_percent(text).map_err(|error| error.to_string())?;
    if margin > 0.0 && margin < 1.0 {
        return Ok(margin);
    }
    Err("a margin lies above 0 % and below 100 %".to_owned())
}
