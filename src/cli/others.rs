//! Commands with few options.

use std::path::PathBuf;

use clap::Args;

use super::{FormatArgs, TargetArgs};

/// `dbload report`
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Results folders
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Write the page into this file [default: report.html in the folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print the figures of each statement
    #[arg(long, short = 'r', visible_alias = "report-per-command")]
    pub(crate) report_per_statement: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// `dbload verify`
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Accept the tables as they are, after another tool truncated the history
    #[arg(long)]
    pub(crate) rebase: bool,
}

/// `dbload clean`
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// `dbload show`
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Workload to print
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print the text as this engine gets it
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    /// Write all built-in files into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["name", "engine"])]
    pub(crate) export: Option<PathBuf>,
    /// Folder that may hold workloads/ to use in place of the built-in files
    #[arg(long, value_name = "DIR", env = "DBLOAD_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}
