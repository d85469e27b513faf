//! Options of `dbload study`.

use std::path::PathBuf;

use clap::Args;

use super::{FormatArgs, TalkArgs};

/// `dbload study`
#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// Plan file, see --example
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,
    /// Print a plan with everything in it, explained
    #[arg(long, conflicts_with_all = ["plan", "dry_run", "resume"])]
    pub(crate) example: bool,
    /// Print the order of the runs and how long they take, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on with a study that ended early: the folder of its results
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) resume: Option<PathBuf>,
    /// Folder for the results [default: that of the plan, or dbload-results/TIME-study]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
