//! Warnings: what may make a result mislead, and what to change.
//!
//! A warning is made where its cause is seen, kept as its sentence in the result, and printed
//! once under the report. It never changes the exit code.

use std::fmt;

use crate::stats::precision::TooShort;

/// A way in which a result may mislead.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// More clients than rows in the table that every transaction of the workload updates.
    ClientsOverBranches {
        /// The highest client count.
        clients: u32,
        /// Rows of the branches table.
        branches: u64,
    },
    /// The window is too short for what the run shows.
    TooShort(TooShort),
    /// A worker used most of its processor: dbload itself may be what limits the result. Says
    /// nothing where the database works in the client's own thread, and is not made there.
    WorkerBusy {
        /// Highest share of a processor that a worker used over an interval, in percent.
        busy_pct: f64,
        /// Workers of the run.
        workers: u32,
    },
    /// A script cannot be prepared and ran in simple protocol.
    SimpleProtocol {
        /// Name of the script.
        script: String,
        /// What cannot be prepared.
        why: String,
    },
    /// Latencies above the histogram's range were recorded as its upper end.
    Saturated {
        /// How many.
        count: u64,
    },
    /// Transactions were cut off at the end of the window and are in no latency figure.
    Unfinished {
        /// How many.
        unfinished: u64,
        /// How long the oldest of them had been running.
        longest_s: f64,
    },
    /// Clients ended before the window did.
    ClientsLost {
        /// How many.
        lost: u32,
        /// Clients of the run.
        clients: u32,
        /// Why the first one ended.
        why: String,
    },
    /// The server did not keep up with the rate asked for.
    RateNotSustained {
        /// Arrivals per second.
        asked_per_s: f64,
        /// Committed transactions per second.
        sustained_per_s: f64,
        /// Growth of the number of arrivals that wait.
        growth_per_s: f64,
    },
    /// Connections were lost and made again.
    Reconnected {
        /// How many times.
        reconnects: u64,
    },
    /// The server's counters could not be read.
    NotMonitored {
        /// What the server said.
        why: String,
    },
    /// No transaction committed.
    NothingCommitted {
        /// Failed transactions.
        failed: u64,
        /// Where and why the first one did; empty when none did.
        why: String,
    },
    /// The run was interrupted before its planned end.
    Interrupted,
    /// The terms of the accounting do not add up.
    Accounting {
        /// The terms with their values.
        terms: String,
    },
    /// Statements ran and found no row.
    NothingMatched {
        /// The first one.
        statement: String,
        /// Its executions.
        count: u64,
        /// How many others there are.
        others: usize,
    },
    /// A scale was asked for that is not the tables'.
    ScaleIgnored {
        /// Asked for.
        asked: u64,
        /// What the tables were loaded at.
        holds: u64,
    },
    /// Workers were asked for where every client has a thread of its own.
    WorkersIgnored {
        /// Asked for.
        workers: u32,
    },
    /// The workload asks for keys that the tables do not have.
    KeysBeyondTable {
        /// Rows of a table that were asked for.
        asked: u64,
        /// Rows that it was loaded with.
        holds: u64,
    },
    /// The tables were made anew before the run, since a test had used them up.
    TablesRemade {
        /// Share of the loaded rows that was left.
        left_pct: f64,
        /// Rows that were added, as a share of the loaded ones.
        added_pct: f64,
    },
    /// A step between two tests was refused.
    NotSettled {
        /// What the server said.
        why: String,
    },
    /// A results file could not be written; the printed report is complete.
    NotWritten {
        /// What the operating system said, with the file.
        why: String,
    },
}

impl Warning {
    /// Those about options without effect.
    fn about_options(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ScaleIgnored { asked, holds } => write!(
                f,
                "--scale {asked} has no effect: the tables were loaded at scale {holds}, and built-in \
                 workloads go by that. Load others with `dbload init --scale {asked} --replace`"
            ),
            Self::WorkersIgnored { workers } => write!(
                f,
                "--workers {workers} has no effect on SQLite, which works in its clients' own threads: \
                 leave it out"
            ),
            _ => Ok(()),
        }
    }

    /// Those about the tables.
    fn about_tables(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingMatched { statement, count, others } => {
                let others = match others {
                    0 => String::new(),
                    others => format!(" (and {others} more statements)"),
                };
                write!(
                    f,
                    "none of {count} executions found a row: {statement}{others}. Its keys are not \
                     in the tables: load them with `dbload init`, or use --scale or --table-size \
                     of the tables that are there"
                )
            }
            Self::KeysBeyondTable { asked, holds } => write!(
                f,
                "--table-size {asked} is more than the {holds} rows that the tables were loaded \
                 with: statements on the other keys find nothing. Leave --table-size out, or load \
                 larger tables with `dbload init`"
            ),
            Self::TablesRemade { left_pct, added_pct } => write!(
                f,
                "the tables were made anew before this run: of their rows {left_pct:.0} % were \
                 left, and {added_pct:.0} % had been added. Use --no-vacuum to measure on what is \
                 left"
            ),
            Self::NotSettled { why } => write!(
                f,
                "the checkpoint between two tests was refused ({why}), so one test's writes may \
                 be on the next one's account. Use a role that may make checkpoints"
            ),
            _ => Ok(()),
        }
    }
}

fn nothing_committed(f: &mut fmt::Formatter<'_>, failed: u64, why: &str) -> fmt::Result {
    f.write_str("no transaction committed")?;
    match (failed, why) {
        (0, "") => {
            return f.write_str(
                " in the window: there is no throughput and no latency to report. Use a longer \
                 --duration",
            );
        }
        (0, why) => write!(f, ": {why}")?,
        (failed, why) => write!(f, ", and {failed} failed: {why}")?,
    }
    f.write_str(
        ". There is no throughput and no latency to report; correct the script, or look at the tables",
    )
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClientsOverBranches { clients, branches } => write!(
                f,
                "{clients} clients update {branches} {}: they mostly wait for each other's row \
                 locks. Use --scale {clients} or more when initializing, or fewer clients",
                if *branches == 1 { "branch" } else { "branches" }
            ),
            Self::TooShort(reason) => reason.fmt(f),
            Self::WorkerBusy { busy_pct, workers } => write!(
                f,
                "a worker was busy {busy_pct:.0} % of the time: dbload may be what limits the \
                 throughput. Use --workers {} or more, or a machine of its own",
                workers + 1
            ),
            Self::SimpleProtocol { script, why } => write!(
                f,
                "script {script} ran in simple protocol, because {why}. Change it so that it can \
                 be prepared, or compare it only with runs of --protocol simple"
            ),
            Self::Saturated { count } => write!(
                f,
                "latencies over an hour: {count}, counted as an hour. Do not trust mean and maximum; \
                 look for what blocks the server"
            ),
            Self::Unfinished { unfinished, longest_s } => write!(
                f,
                "{unfinished} transactions were still running at the end, the oldest for \
                 {longest_s:.3} s, longer than any that was counted: the slowest are missing. \
                 Use a longer --duration"
            ),
            Self::ClientsLost { lost, clients, why } => write!(
                f,
                "clients that ended early: {lost} of {clients}, so the figures are of fewer \
                 clients. The first one's reason: {why}. Use --continue-on-error to count such \
                 errors and go on"
            ),
            Self::RateNotSustained { asked_per_s, sustained_per_s, growth_per_s } => write!(
                f,
                "{asked_per_s:.1} arrivals/s are more than the server sustains, about \
                 {sustained_per_s:.1}/s: the backlog grew by {growth_per_s:.1}/s, and response \
                 times say how long the run was. Use a lower --rate"
            ),
            Self::Reconnected { reconnects } => write!(
                f,
                "connections were lost and made again {reconnects} times: the figures hold the \
                 outage. Look into the server's log, or use --no-reconnect to end such clients"
            ),
            Self::NotMonitored { why } => write!(
                f,
                "the server does not show its counters: {why}. Give the user the role pg_monitor \
                 (PostgreSQL) or PROCESS (MySQL), or use --no-monitor"
            ),
            Self::NothingCommitted { failed, why } => nothing_committed(f, *failed, why),
            Self::Interrupted => f.write_str(
                "interrupted: this run is shorter than asked. Repeat it before comparing",
            ),
            Self::Accounting { terms } => write!(
                f,
                "the transactions do not add up ({terms}): an error in dbload, please report it \
                 and do not trust this run"
            ),
            Self::NothingMatched { .. }
            | Self::KeysBeyondTable { .. }
            | Self::TablesRemade { .. }
            | Self::NotSettled { .. } => self.about_tables(f),
            Self::ScaleIgnored { .. } | Self::WorkersIgnored { .. } => self.about_options(f),
            Self::NotWritten { why } => {
                write!(f, "{why}: the results folder is not complete, the figures here are")
            }
        }
    }
}

impl From<Warning> for String {
    fn from(warning: Warning) -> Self {
        warning.to_string()
    }
}
