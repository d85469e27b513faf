//! The command line: options and their checks, nothing else. Which defaults apply, and what the
//! options mean together, is decided where the plan is made (`cmd::run::request`).

mod compare;
mod feeds;
mod format;
mod others;
mod sessions;
mod study;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::plan::Protocol;
use crate::plan::study::Part;
use crate::schema::sbtest::{MAX_TABLE_SIZE, MAX_TABLES};
use crate::units::{self, BareUnit, UnitError};

pub(crate) use compare::{CompareArgs, CompareFilesArgs};
pub(crate) use feeds::{FeedArgs, ProgressFormat};
pub(crate) use format::FormatArgs;
pub(crate) use others::{CleanArgs, ReportArgs, ShowArgs, VerifyArgs};
pub(crate) use sessions::SessionArgs;
pub(crate) use study::StudyArgs;

/// Loads a database and measures it: throughput, latency, and how steady they are.
#[derive(Debug, Parser)]
#[command(
    name = "dbload",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    args_override_self = false
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print help
    #[arg(long, short = '?', global = true, action = ArgAction::Help, help_heading = "General")]
    help: Option<bool>,
    /// Print the version
    #[arg(long, short = 'V', action = ArgAction::Version, help_heading = "General")]
    version: Option<bool>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create the tables and load them
    Init(InitArgs),
    /// Measure a workload at one or several client counts
    Run(Box<RunArgs>),
    /// Compare servers and storages that dbload makes itself, with a verdict
    Study(StudyArgs),
    /// Compare results on disk, with a verdict
    Compare(CompareFilesArgs),
    /// Print the report of results on disk, and draw their page
    Report(ReportArgs),
    /// Check that the tables add up after runs
    Verify(VerifyArgs),
    /// Drop the tables
    Clean(CleanArgs),
    /// List the built-in workloads, print one, or export them all
    Show(ShowArgs),
}

/// Which database. The short options mean PostgreSQL, as in psql and pgbench.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// Database: postgres://USER@HOST:PORT/DB, mysql://USER@HOST:PORT/DB or sqlite:PATH; NAME=URL gives it a name
    #[arg(long, value_name = "URL", conflicts_with_all = ["host", "port", "user", "dbname", "database"])]
    pub(crate) target: Vec<String>,
    /// PostgreSQL server, or the folder of its socket
    #[arg(long, short = 'h', value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Port of the PostgreSQL server
    #[arg(long, short = 'p', value_name = "PORT")]
    pub(crate) port: Option<String>,
    /// User on the PostgreSQL server
    #[arg(long, short = 'U', value_name = "USER")]
    pub(crate) user: Option<String>,
    /// Database on the PostgreSQL server
    #[arg(long, short = 'd', value_name = "DB", conflicts_with = "database")]
    pub(crate) dbname: Option<String>,
    /// Database on the PostgreSQL server, as the last word
    #[arg(value_name = "DB")]
    pub(crate) database: Option<String>,
}

/// How much is said.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TalkArgs {
    /// Only the report, no progress
    #[arg(long, short = 'q')]
    pub(crate) quiet: bool,
}

/// How many sysbench tables, and how large.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Tables")]
pub(crate) struct SizeArgs {
    /// Number of sysbench tables [default: what is there; to load, 1]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MAX_TABLES.into()),
        allow_hyphen_values = true)]
    pub(crate) tables: Option<u32>,
    /// Rows of each sysbench table, also as 10K, 1M [default: what is there; to load, 10000]
    #[arg(long, value_name = "ROWS", value_parser = whole::<u64>(1..=MAX_TABLE_SIZE),
        allow_hyphen_values = true)]
    pub(crate) table_size: Option<u64>,
}

/// How the tables are made.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Tables")]
pub(crate) struct TableArgs {
    /// Connections that load at the same time [default: half of the processors, at most 4; 1 with SQLite]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024),
        allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    /// Drop tables of this schema that are there already
    #[arg(long)]
    pub(crate) replace: bool,
    /// Fill table pages only so far, in percent
    #[arg(long, short = 'F', value_name = "PERCENT", default_value_t = 100,
        value_parser = whole::<u8>(10..=100),
        allow_negative_numbers = true)]
    pub(crate) fillfactor: u8,
    /// Make tables that skip the write-ahead log
    #[arg(long, visible_alias = "unlogged-tables")]
    pub(crate) unlogged: bool,
    /// Make foreign keys between the tables
    #[arg(long)]
    pub(crate) foreign_keys: bool,
    /// Split the accounts table into so many partitions
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = whole::<u32>(0..=1_000_000),
        allow_negative_numbers = true)]
    pub(crate) partitions: u32,
    /// How accounts are split
    #[arg(long, value_name = "METHOD", requires = "partitions")]
    pub(crate) partition_method: Option<PartitionMethod>,
    /// Put tables there
    #[arg(long, value_name = "NAME")]
    pub(crate) tablespace: Option<String>,
    /// Put indexes there
    #[arg(long, value_name = "NAME")]
    pub(crate) index_tablespace: Option<String>,
}

/// How a table is split into partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartitionMethod {
    /// By ranges of the key.
    Range,
    /// By a hash of the key.
    Hash,
}

/// `dbload init`
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Schema to load: tpcb, sysbench, or the name of a workload
    #[arg(long, value_name = "NAME", default_value = "tpcb")]
    pub(crate) workload: String,
    /// Scale factor of tpcb: 1 is 100,000 accounts, 10 tellers, 1 branch [default: 1]
    #[arg(long, short = 's', value_name = "N", value_parser = scale,
        allow_hyphen_values = true)]
    pub(crate) scale: Option<u32>,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    /// Seed of the rows' random columns
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Not offered: pgbench's step letters
    #[arg(long, short = 'I', hide = true)]
    pub(crate) init_steps: Option<String>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// Job count as in pgbench's run options
    #[arg(short = 'j', hide = true, conflicts_with = "jobs",
        value_parser = whole::<u32>(1..=1024),
        allow_negative_numbers = true)]
    pub(crate) jobs_short: Option<u32>,
}

/// `dbload run`
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) sessions: SessionArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) compare: CompareArgs,
    #[command(flatten)]
    pub(crate) errors: ErrorArgs,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    /// Load the tables first, unless they are there already
    #[arg(long, help_heading = "Tables")]
    pub(crate) init: bool,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
}

/// What is run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadArgs {
    /// Built-in workload, with a weight after @, or list of workloads [default: tpcb-like]
    #[arg(long, short = 'b', visible_alias = "builtin", value_name = "NAME[@W]")]
    pub(crate) workload: Vec<String>,
    /// Script file in pgbench's language, with a weight after @; - is standard input
    #[arg(long, short = 'f', visible_alias = "file", value_name = "FILE[@W]")]
    pub(crate) script: Vec<String>,
    /// The same as --workload simple-update
    #[arg(long, short = 'N')]
    pub(crate) skip_some_updates: bool,
    /// The same as --workload select-only
    #[arg(long, short = 'S')]
    pub(crate) select_only: bool,
    /// Client counts, one level each
    #[arg(long, short = 'c', visible_alias = "client", value_name = "N[,N...]",
        default_value = "1", value_parser = clients,
        allow_hyphen_values = true)]
    pub(crate) clients: ClientLevels,
    /// Threads that the clients of a network database are spread over [default: a quarter of the
    /// processors, at least 1]
    #[arg(long, short = 'j', value_name = "N", value_parser = whole::<u32>(1..=1024),
        allow_negative_numbers = true)]
    pub(crate) workers: Option<u32>,
    /// How statements travel [default: prepared]
    #[arg(long, short = 'M', value_name = "PROTOCOL")]
    pub(crate) protocol: Option<ProtocolArg>,
    /// Send each transaction as one pipeline: one round trip (PostgreSQL)
    #[arg(long)]
    pub(crate) pipeline: bool,
    /// Scale factor: with --init of the tables, without it the value of :scale for scripts
    #[arg(long, short = 's', value_name = "N", value_parser = scale,
        allow_hyphen_values = true)]
    pub(crate) scale: Option<u32>,
    /// Set a variable for scripts
    #[arg(long, short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    pub(crate) define: Vec<(String, String)>,
    /// Let scripts run programs on this machine with \shell and \setshell
    #[arg(long)]
    pub(crate) allow_shell: bool,
    /// Seed of all random choices [default: drawn, and recorded]
    #[arg(long, value_name = "N", conflicts_with = "random_seed", allow_negative_numbers = true,
        value_parser = whole::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,
    /// Draw what pgbench draws from this seed: time, rand or a number
    #[arg(long, value_name = "SEED")]
    pub(crate) random_seed: Option<String>,
    /// Folder that may hold workloads/ and sql/ to use in place of the built-in files
    #[arg(long, value_name = "DIR", env = "DBLOAD_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Workloads one after the other, from a study's plan; no option.
    #[arg(skip)]
    pub(crate) sequence: Vec<Vec<Part>>,
}

impl LoadArgs {
    /// Whether scripts of the user's are named.
    pub(crate) fn has_files(&self) -> bool {
        let mut parts = self.sequence.iter().flatten();
        !self.script.is_empty() || parts.any(|part| matches!(part, Part::File(_)))
    }
}

/// How long is measured.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Window")]
pub(crate) struct WindowArgs {
    /// Measure so long at each level; a bare number is seconds [default: 60s]
    #[arg(long, short = 'T', visible_alias = "time", value_name = "D", value_parser = duration,
        allow_hyphen_values = true, conflicts_with = "transactions")]
    pub(crate) duration: Option<Duration>,
    /// Measure so many transactions of each client
    #[arg(long, short = 't', value_name = "N", value_parser = transactions,
        allow_hyphen_values = true)]
    pub(crate) transactions: Option<u64>,
    /// Open loop: start so many transactions a second, whatever the server does
    #[arg(long, short = 'R', value_name = "TPS", value_parser = units::parse_rate_per_s,
        allow_hyphen_values = true)]
    pub(crate) rate: Option<f64>,
    /// How the arrivals of an open loop follow each other
    #[arg(long, value_name = "HOW", default_value = "poisson", requires = "rate")]
    pub(crate) arrival: ArrivalArg,
    /// Count slower transactions as late, and with --rate skip what is already later; a bare
    /// number is milliseconds
    #[arg(long, short = 'L', value_name = "D", value_parser = milliseconds,
        allow_hyphen_values = true)]
    pub(crate) latency_limit: Option<Duration>,
    /// Run so long before measuring [default: a sixth of the duration, at most 10s]
    #[arg(long, value_name = "D", value_parser = seconds,
        allow_hyphen_values = true, conflicts_with = "transactions")]
    pub(crate) warmup: Option<Duration>,
    /// Let clients begin one after the other, evenly spread over so long before the warm-up
    #[arg(long, value_name = "D", value_parser = seconds, allow_hyphen_values = true,
        conflicts_with_all = ["transactions", "rate"])]
    pub(crate) ramp: Option<Duration>,
    /// Length of an interval of the time series, at least 100ms
    #[arg(long, short = 'P', visible_alias = "progress", value_name = "D", default_value = "1s",
        value_parser = interval,
        allow_hyphen_values = true)]
    pub(crate) interval: Duration,
    /// Passes over all client counts
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = whole::<u32>(1..=10_000),
        allow_negative_numbers = true)]
    pub(crate) rounds: u32,
    /// Wait so long for transactions that run over the end, then cancel them
    #[arg(long, value_name = "D", default_value = "5s", value_parser = seconds,
        allow_hyphen_values = true)]
    pub(crate) grace: Duration,
    /// Neither truncate pgbench_history nor vacuum before a level
    #[arg(long, short = 'n')]
    pub(crate) no_vacuum: bool,
}

/// What errors do.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Errors")]
pub(crate) struct ErrorArgs {
    /// Tries of a transaction that meets a deadlock or the like; 0 is no limit [default: 1; of the
    /// sysbench workloads 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = whole::<u32>(0..=u64::from(u32::MAX)))]
    pub(crate) max_tries: Option<u32>,
    /// Count any error and go on, with pauses while one follows the other
    #[arg(long)]
    pub(crate) continue_on_error: bool,
    /// Count errors of these codes and go on; also duplicate, or none [default: none; of the sysbench
    /// workloads duplicate]
    #[arg(long, value_name = "CODE[,CODE...]", value_delimiter = ',',
        value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) ignore_errors: Vec<String>,
    /// End everything with the first client that is lost
    #[arg(long)]
    pub(crate) exit_on_abort: bool,
    /// Print every error as it comes, those of tries that are repeated included
    #[arg(long)]
    pub(crate) verbose_errors: bool,
    /// Accepted as in pgbench: failures are always shown by code
    #[arg(long)]
    pub(crate) failures_detailed: bool,
    /// Do not connect again after a lost connection
    #[arg(long)]
    pub(crate) no_reconnect: bool,
}

/// Where results go.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultArgs {
    /// Folder for the results [default: dbload-results/TIME-NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the figures of each statement
    #[arg(long, short = 'r', visible_alias = "report-per-command")]
    pub(crate) report_per_statement: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Check at the end that the tables add up
    #[arg(long)]
    pub(crate) verify: bool,
    /// Leave out the counters of machine and server
    #[arg(long)]
    pub(crate) no_monitor: bool,
    #[command(flatten)]
    pub(crate) feeds: FeedArgs,
}

/// `--protocol`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolArg {
    /// Text with values in it.
    Simple,
    /// Text and values apart.
    Extended,
    /// Prepared once per connection.
    Prepared,
}

impl From<ProtocolArg> for Protocol {
    fn from(arg: ProtocolArg) -> Self {
        match arg {
            ProtocolArg::Simple => Self::Simple,
            ProtocolArg::Extended => Self::Extended,
            ProtocolArg::Prepared => Self::Prepared,
        }
    }
}

/// `--arrival`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalArg {
    /// Independent of each other.
    Poisson,
    /// At equal distances.
    Constant,
}

/// `--clients`: a type of its own, since clap takes a `Vec` for an option that may be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientLevels(pub(crate) Vec<u32>);

fn clients(text: &str) -> Result<ClientLevels, UnitError> {
    units::parse_clients(text).map(ClientLevels)
}

/// The largest scale factor: teller numbers are 32-bit integers, ten per unit.
const MAX_SCALE: u64 = 214_748_364;

fn scale(text: &str) -> Result<u32, UnitError> {
    let scale = units::parse_count_within(text, 1..=MAX_SCALE)?;
    // The range lies within u32.
    Ok(u32::try_from(scale).unwrap_or(u32::MAX))
}

/// Reads a whole number of the type of its option, within `allowed`.
fn whole<T: TryFrom<u64>>(
    allowed: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, UnitError> + Clone {
    move |text| {
        let number = units::parse_count_within(text, allowed.clone())?;
        let (min, max) = (*allowed.start(), *allowed.end());
        T::try_from(number).map_err(|_| UnitError::OutOfRange { text: text.to_owned(), min, max })
    }
}

fn transactions(text: &str) -> Result<u64, UnitError> {
    units::parse_count_within(text, 1..=u64::MAX)
}

fn seconds(text: &str) -> Result<Duration, UnitError> {
    units::parse_duration(text, BareUnit::Seconds)
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let limit = units::parse_duration(text, BareUnit::Milliseconds);
    let limit = limit.map_err(|error| error.to_string())?;
    if limit.is_zero() {
        return Err(format!("\"{text}\" is no limit: give more than 0"));
    }
    Ok(limit)
}

fn duration(text: &str) -> Result<Duration, String> {
    let duration = seconds(text).map_err(|error| error.to_string())?;
    if duration < Duration::from_millis(100) {
        return Err(format!("\"{text}\" is too short: a window is at least 100ms"));
    }
    Ok(duration)
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = seconds(text).map_err(|error| error.to_string())?;
    if interval < Duration::from_millis(100) {
        return Err(format!("\"{text}\" is too short: an interval is at least 100ms"));
    }
    Ok(interval)
}

fn define(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(format!("\"{text}\" is not NAME=VALUE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_pgbench_users_first_try_is_understood() {
        let line = "dbload run -h 127.0.0.1 -p 9800 -U postgres -c 2,4,8 -T 60 bench";
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Command::Run(run) = cli.command else { panic!("not a run") };
        assert_eq!(run.target.host.as_deref(), Some("127.0.0.1"));
        assert_eq!(run.target.database.as_deref(), Some("bench"));
        assert_eq!(run.load.clients.0, [2, 4, 8]);
        assert_eq!(run.window.duration, Some(Duration::from_secs(60)));
    }
}
