//! What pgbench prints: progress lines (`-P`), and the report at the end.
//!
//! The report begins with the line of the transaction type and ends with that of the throughput;
//! statements (`-r`) and scripts come after it. Lines of progress and errors go to the standard error
//! stream, and stand in the text only where both streams went there.

use super::lines::{Line, count_of, wrong};
use super::pgbench_lines::{Progress, is_progress, item, progress, statement, with_total};
use super::{ImportError, Imported};
use crate::plan::Protocol;
use crate::result::run::{LatencyMs, Script, Statement};
use crate::result::{IntervalRow, Run, Variance};
use crate::stats::series::IntervalCount;

/// What a report never tells of a run.
const UNKNOWN: [&str; 4] = ["unfinished", "scripts.file", "statements.count", "statements.rows"];
/// Seconds of the epoch in place of those of the run (`--progress-timestamp`).
const EPOCH_S: f64 = 1e9;

/// Whether this line begins a run.
pub(super) fn starts(text: &str) -> bool {
    version(text).is_some() || is_report(text) || is_progress(text)
}

/// The first line since 14: `pgbench (18.3)`, perhaps with more in the parentheses.
fn version(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("pgbench (")?.strip_suffix(')')?;
    let version = inside.split(' ').next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

fn is_report(text: &str) -> bool {
    text.starts_with("transaction type: ")
}

/// How far a report has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Part {
    /// Header and progress.
    Before,
    /// The report.
    Report,
    /// The throughput was there: only statements and scripts may follow.
    Complete,
}

/// A run as far as it was read.
pub(super) struct Report {
    line: u64,
    part: Part,
    version: Option<String>,
    run: Run,
    progress: Vec<Progress>,
    /// What was seen: what was not, is unknown.
    clients: bool,
    threads: bool,
    mode: bool,
    processed: bool,
    failures: bool,
    paced: bool,
    aborted: u32,
    incomplete: bool,
    latency: LatencyMs,
    lag: Option<LatencyMs>,
    scale: Option<u64>,
    /// The script whose section is being read.
    script: Option<usize>,
}

impl Report {
    pub(super) fn new(line: u64) -> Self {
        Self {
            line,
            part: Part::Before,
            version: None,
            run: Run::of_rate("", 1, 0, 0.0),
            progress: Vec::new(),
            clients: false,
            threads: false,
            mode: false,
            processed: false,
            failures: false,
            paced: false,
            aborted: 0,
            incomplete: false,
            latency: LatencyMs::default(),
            lag: None,
            scale: None,
            script: None,
        }
    }

    /// Whether this line begins another run.
    pub(super) fn ends_before(&self, text: &str) -> bool {
        match self.part {
            Part::Before => {
                version(text).is_some() && (self.version.is_some() || !self.progress.is_empty())
            }
            Part::Report | Part::Complete => starts(text) || super::sysbench::starts(text),
        }
    }

    /// Takes in a line.
    pub(super) fn take(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let text = line.text;
        if let Some(version) = version(text) {
            self.version = Some(version.to_owned());
        } else if is_progress(text) {
            self.progress.push(progress(line)?);
        } else if let Some(kind) = text.strip_prefix("transaction type: ") {
            self.part = Part::Report;
            self.run.workload = workload(kind);
        } else if text.contains("error: client ") && text.contains(" aborted ") {
            self.aborted = self.aborted.saturating_add(1);
        } else if text.contains("Run was aborted") {
            self.incomplete = true;
        } else if self.part != Part::Before {
            self.take_report(line)?;
        }
        Ok(())
    }

    fn take_report(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let text = line.text;
        if let Some(rest) = text.strip_prefix("SQL script ") {
            return self.begin_script(line, rest);
        }
        if text.starts_with("         ") && self.part == Part::Complete {
            return self.take_statement(line);
        }
        if let Some(text) = text.strip_prefix(" - ") {
            return match self.script {
                Some(script) => self.take_of_script(line, text, script),
                None => Ok(()),
            };
        }
        match self.part {
            Part::Complete => Ok(()),
            _ => self.take_item(line),
        }
    }

    /// A line of the report about the whole run.
    fn take_item(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let Some((name, value)) = item(line.text) else { return Ok(()) };
        let run = &mut self.run;
        match name {
            "scaling factor" => self.scale = Some(line.count(value, "a scaling factor")?),
            "query mode" => {
                run.protocol = match value {
                    "simple" => Protocol::Simple,
                    "extended" => Protocol::Extended,
                    "prepared" => Protocol::Prepared,
                    _ => return Err(line.wrong("simple, extended or prepared")),
                };
                self.mode = true;
            }
            "number of clients" => {
                run.clients = line.count(value, "a number of clients")?;
                self.clients = true;
            }
            "number of threads" => {
                run.workers = line.count(value, "a number of threads")?;
                self.threads = true;
            }
            "duration" => {
                let seconds = value.strip_suffix(" s").ok_or_else(|| line.wrong("seconds"))?;
                run.asked_s = Some(line.number(seconds, "seconds")?);
            }
            "number of transactions per client" => {
                run.asked_transactions = Some(line.count(value, "a number of transactions")?);
            }
            "number of transactions actually processed" => {
                let (processed, asked) = with_total(line, value)?;
                run.transactions = processed;
                self.processed = true;
                self.incomplete |= asked.is_some_and(|asked| processed < asked);
            }
            "number of transactions above the" => {
                run.late = Some(with_total(line, value)?.0);
            }
            _ => return self.take_count_or_time(line, name, value),
        }
        Ok(())
    }

    fn take_count_or_time(
        &mut self,
        line: Line<'_>,
        name: &str,
        value: &str,
    ) -> Result<(), ImportError> {
        let first = value.split(' ').next().unwrap_or_default();
        let run = &mut self.run;
        match name {
            "number of failed transactions" => {
                run.failed.total = line.count(first, "a number of transactions")?;
                self.failures = true;
            }
            "number of serialization failures" => {
                let count = line.count(first, "a number of failures")?;
                run.failed.by_code.insert("40001".to_owned(), count);
            }
            "number of deadlock failures" => {
                let count = line.count(first, "a number of failures")?;
                run.failed.by_code.insert("40P01".to_owned(), count);
            }
            "number of transactions skipped" => {
                run.skipped = line.count(first, "a number of transactions")?;
                self.paced = true;
            }
            "number of transactions retried" => {
                run.retried = line.count(first, "a number of transactions")?;
            }
            "total number of retries" => run.retries = line.count(first, "a number of retries")?,
            "latency average" => self.latency.mean = milliseconds(line, value)?,
            "latency stddev" => self.latency.stddev = milliseconds(line, value)?,
            // With -C only.
            "average connection time" => {
                let mean = milliseconds(line, value)?;
                run.connect_ms = Some(LatencyMs { mean, ..LatencyMs::default() });
            }
            "rate limit schedule lag" => {
                let lag = value.strip_prefix("avg ").and_then(|rest| rest.split_once(" (max "));
                let lag = lag.and_then(|(avg, rest)| Some((avg, rest.strip_suffix(") ms")?)));
                let (mean, max) = lag.ok_or_else(|| line.wrong("avg A (max B) ms"))?;
                self.lag = Some(LatencyMs {
                    mean: line.figure(mean, "a lag")?,
                    max: line.figure(max, "a lag")?,
                    ..LatencyMs::default()
                });
                self.paced = true;
            }
            // 13 prints two; the second one leaves out what connecting took, as later versions do.
            "tps" if value.ends_with("(including connections establishing)") => {
                run.tps = line.figure(first, "a throughput")?.unwrap_or(0.0);
            }
            "tps" => {
                run.tps = line.figure(first, "a throughput")?.unwrap_or(0.0);
                self.part = Part::Complete;
            }
            _ => {}
        }
        Ok(())
    }

    /// `SQL script 2: <builtin: select only>`.
    fn begin_script(&mut self, line: Line<'_>, rest: &str) -> Result<(), ImportError> {
        let (_, name) = rest.split_once(": ").ok_or_else(|| line.wrong("a script's name"))?;
        self.script = Some(self.run.scripts.len());
        self.run.scripts.push(Script {
            name: workload(name),
            weight: 0,
            source: name.to_owned(),
            file: String::new(),
            sha256: String::new(),
            transactions: 0,
            tps: 0.0,
            failed: 0,
            retried: 0,
            retries: 0,
            latency_ms: LatencyMs::default(),
        });
        Ok(())
    }

    fn take_of_script(
        &mut self,
        line: Line<'_>,
        text: &str,
        script: usize,
    ) -> Result<(), ImportError> {
        let Some((name, value)) = item(text) else { return self.take_share(line, text, script) };
        let script = &mut self.run.scripts[script];
        let first = value.split(' ').next().unwrap_or_default();
        match name {
            "weight" => script.weight = line.count(first, "a weight")?,
            "number of transactions actually processed" => {
                script.transactions = line.count(first, "a number of transactions")?;
                take_tps(script, line, value)?;
            }
            "number of failed transactions" => {
                script.failed = line.count(first, "a number of transactions")?;
            }
            "number of transactions retried" => {
                script.retried = line.count(first, "a number of transactions")?;
            }
            "total number of retries" => script.retries = line.count(first, "retries")?,
            "latency average" => script.latency_ms.mean = milliseconds(line, value)?,
            "latency stddev" => script.latency_ms.stddev = milliseconds(line, value)?,
            _ => {}
        }
        Ok(())
    }

    /// `1806 transactions (25.4% of total, tps = 606.19)`: 13 and 14 have the throughput here.
    fn take_share(&mut self, line: Line<'_>, text: &str, script: usize) -> Result<(), ImportError> {
        let Some((count, _)) = text.split_once(" transactions (") else { return Ok(()) };
        let script = &mut self.run.scripts[script];
        script.transactions = line.count(count, "a number of transactions")?;
        take_tps(script, line, text)
    }

    fn take_statement(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let script = match self.script {
            Some(script) => self.run.scripts[script].name.clone(),
            None => self.run.workload.clone(),
        };
        let of_script = |statement: &&Statement| statement.script == script;
        let before = self.run.statements.iter().rev().take_while(of_script).count();
        let n = u32::try_from(before + 1).unwrap_or(u32::MAX);
        self.run.statements.push(statement(line, script, n)?);
        Ok(())
    }

    /// The run, unless its report is cut off.
    pub(super) fn finish(mut self) -> Result<Imported, ImportError> {
        // Without a transaction pgbench prints no throughput.
        let is_empty = self.processed && self.run.transactions == 0;
        if self.part == Part::Before {
            let why = "this run of pgbench has no report: its output is cut off, or the run failed";
            return Err(wrong(self.line, why));
        }
        if !self.clients || !self.processed || (self.part != Part::Complete && !is_empty) {
            let missing = match (self.clients, self.processed) {
                (false, _) => "the number of clients",
                (_, false) => "the number of transactions",
                _ => "the throughput (tps)",
            };
            let why = format!("this run of pgbench is cut off: its report lacks {missing}");
            return Err(wrong(self.line, why));
        }
        self.settle_unknown();
        self.settle_latency();
        let run = &mut self.run;
        // The scale of somebody's own script means nothing, and pgbench prints 1.
        let is_builtin = BUILTINS.iter().any(|(_, name)| {
            run.workload == *name || run.scripts.iter().any(|script| script.name == *name)
        });
        run.scale = self.scale.filter(|_| is_builtin);
        if !run.scripts.is_empty() {
            let names: Vec<&str> = run.scripts.iter().map(|script| script.name.as_str()).collect();
            run.workload = names.join("+");
        }
        if run.tps > 0.0 {
            #[expect(clippy::cast_precision_loss, reason = "a count of a run")]
            let counted = run.transactions as f64;
            run.duration_s = counted / run.tps;
        } else {
            run.duration_s = run.asked_s.unwrap_or(0.0);
        }
        run.clients_lost = self.aborted;
        run.complete = !self.incomplete && self.aborted == 0;
        let tool =
            self.version.as_ref().map_or_else(|| "pgbench".to_owned(), |v| format!("pgbench {v}"));
        let intervals = self.intervals()?;
        let counts: Vec<IntervalCount> = intervals
            .iter()
            .map(|row| IntervalCount { transactions: row.transactions, length_s: row.length_s })
            .collect();
        self.run.variance = Variance::of(&counts);
        Ok(Imported { tool, run: self.run, intervals })
    }

    fn settle_unknown(&mut self) {
        let unknown = &mut self.run.unknown;
        *unknown = UNKNOWN.to_vec();
        let seen = [
            ("workers", self.threads),
            ("protocol", self.mode),
            // The lag tells that there was a rate, not which.
            ("rate_per_s", self.lag.is_none() && !self.paced),
            ("duration_s", self.run.tps > 0.0 || self.run.asked_s.is_some()),
            ("failed", self.failures),
            ("clients_lost", self.aborted > 0),
            ("variance", !self.progress.is_empty()),
            ("scripts", !self.run.scripts.is_empty()),
        ];
        unknown.extend(seen.iter().filter(|(_, known)| !known).map(|(name, _)| *name));
    }

    /// The latency of a paced transaction begins at its intended start.
    fn settle_latency(&mut self) {
        if self.lag.is_none() {
            self.run.latency_ms = self.latency;
            return;
        }
        self.run.response_ms = Some(self.latency);
        self.run.lag_ms = self.lag;
        self.run.unknown.push("latency_ms");
    }

    fn intervals(&self) -> Result<Vec<IntervalRow>, ImportError> {
        let is_open = self.lag.is_some();
        let Some(first) = self.progress.first() else { return Ok(Vec::new()) };
        // With time stamps the first interval began when nothing says.
        let stamped = first.at_s > EPOCH_S;
        let mut before_s = 0.0;
        let mut origin_s = 0.0;
        if stamped {
            let length_s = self.progress.get(1).map_or(0.0, |second| second.at_s - first.at_s);
            origin_s = first.at_s - length_s;
            before_s = 0.0;
        }
        let mut rows = Vec::with_capacity(self.progress.len());
        for progress in &self.progress {
            let end_s = progress.at_s - origin_s;
            let length_s = end_s - before_s;
            if length_s <= 0.0 {
                if stamped && rows.is_empty() {
                    // One stamp alone says nothing about a length.
                    return Ok(Vec::new());
                }
                let why = "this line of progress is not later than the one before it";
                return Err(wrong(progress.line, why));
            }
            rows.push(row_of(progress, before_s, length_s, is_open));
            before_s = end_s;
        }
        Ok(rows)
    }
}

fn row_of(progress: &Progress, start_s: f64, length_s: f64, is_open: bool) -> IntervalRow {
    let transactions = count_of(progress.tps, length_s);
    let mean = progress.latency_ms.filter(|_| transactions > 0);
    IntervalRow {
        start_s,
        length_s,
        transactions,
        tps: progress.tps,
        failed: progress.failed,
        retries: progress.retries,
        skipped: progress.skipped,
        latency_mean_ms: mean.filter(|_| !is_open),
        response_mean_ms: mean.filter(|_| is_open),
        lag_mean_ms: progress.lag_ms.filter(|_| is_open),
        ..IntervalRow::default()
    }
}

fn milliseconds(line: Line<'_>, value: &str) -> Result<Option<f64>, ImportError> {
    let figure = value.strip_suffix(" ms").ok_or_else(|| line.wrong("milliseconds"))?;
    line.figure(figure, "milliseconds")
}

/// `... (tps = 606.191206)` or `..., tps = 606.19)`.
fn take_tps(script: &mut Script, line: Line<'_>, text: &str) -> Result<(), ImportError> {
    if let Some((_, rest)) = text.split_once("tps = ") {
        let figure = rest.trim_end_matches(')');
        script.tps = line.figure(figure, "a throughput")?.unwrap_or(0.0);
    }
    Ok(())
}

/// pgbench's names of its built-in scripts, and dbload's.
const BUILTINS: [(&str, &str); 3] = [
    ("<builtin: TPC-B (sort of)>", "tpcb-like"),
    ("<builtin: simple update>", "simple-update"),
    ("<builtin: select only>", "select-only"),
];

/// dbload's name of the same workload: a script is called as its file, without folder and ending.
fn workload(kind: &str) -> String {
    if let Some((_, name)) = BUILTINS.iter().find(|(builtin, _)| *builtin == kind) {
        return (*name).to_owned();
    }
    let file = kind.rsplit('/').next().unwrap_or(kind);
    file.strip_suffix(".sql").unwrap_or(file).to_owned()
}
