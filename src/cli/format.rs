//! In which form a report is printed.

use clap::Args;

use crate::report::Format;

/// The form of the report; text by default.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormatArgs {
    /// Print summary.json on standard output, and nothing else
    #[arg(long, group = "format")]
    pub(crate) json: bool,
    /// Print the report in Markdown
    #[arg(long, group = "format")]
    pub(crate) markdown: bool,
    /// Print a row of CSV for each run, and nothing else
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
}

impl FormatArgs {
    /// What was asked for.
    pub(crate) fn format(&self) -> Format {
        match self {
            Self { json: true, .. } => Format::Json,
            Self { markdown: true, .. } => Format::Markdown,
            Self { csv: true, .. } => Format::Csv,
            _ => Format::Text,
        }
    }
}
