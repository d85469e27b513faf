//! What sysbench prints: interval lines, a histogram, and the report at the end.
//!
//! Its workload, its protocol and the length that was asked for are not in it. An error that it
//! ignores makes it try the event again, so ignored errors are retries here, and nothing failed.

use super::lines::{Line, between, count_of, wrong};
use super::{ImportError, Imported};
use crate::result::run::{LatencyMs, StatementRates};
use crate::result::{IntervalRow, Run, Variance};
use crate::stats::series::IntervalCount;

/// What the output never tells of a run.
const UNKNOWN: [&str; 8] = [
    "workload",
    "protocol",
    "asked_s",
    "retried",
    "clients_lost",
    "unfinished",
    "skipped",
    "scripts",
];
/// Begins the histogram.
const HISTOGRAM: &str = "Latency histogram";

/// Whether this line begins a run: `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)`.
pub(super) fn starts(text: &str) -> bool {
    version(text).is_some()
}

fn version(text: &str) -> Option<&str> {
    let version = text.strip_prefix("sysbench ")?.split(' ').next()?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && text.contains("LuaJIT");
    is_version.then_some(version)
}

/// What the lines are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Other,
    Histogram,
    Statistics,
    General,
    Latency,
}

/// A run as far as it was read.
pub(super) struct Report {
    line: u64,
    section: Section,
    version: String,
    run: Run,
    statements: [u64; 4],
    intervals: Vec<IntervalRow>,
    histogram: Vec<(f64, u64)>,
    latency: LatencyMs,
    time_s: Option<f64>,
    events: Option<u64>,
    threads: bool,
    transactions: bool,
    fatal: Option<(u64, String)>,
    /// The last line of the latencies was there.
    complete: bool,
}

impl Report {
    pub(super) fn new(line: u64) -> Self {
        Self {
            line,
            section: Section::Other,
            version: String::new(),
            run: Run::of_rate("", 1, 0, 0.0),
            statements: [0; 4],
            intervals: Vec::new(),
            histogram: Vec::new(),
            latency: LatencyMs::default(),
            time_s: None,
            events: None,
            threads: false,
            transactions: false,
            fatal: None,
            complete: false,
        }
    }

    /// Whether this line begins another run.
    pub(super) fn ends_before(&self, text: &str) -> bool {
        !self.version.is_empty() && (starts(text) || super::pgbench::starts(text))
    }

    /// Takes in a line.
    pub(super) fn take(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let text = line.text;
        if let Some(version) = version(text) {
            version.clone_into(&mut self.version);
        } else if let Some(rest) = text.strip_prefix("[ ") {
            if rest.contains(" thds: ") {
                let row = self.interval(line, rest)?;
                self.intervals.push(row);
            }
        } else if let Some(threads) = text.strip_prefix("Number of threads: ") {
            self.run.clients = line.count(threads, "a number of threads")?;
            self.run.workers = self.run.clients;
            self.threads = true;
        } else if let Some(rate) = text.strip_prefix("Target transaction rate: ") {
            let rate = rate.strip_suffix("/sec").ok_or_else(|| line.wrong("a rate"))?;
            self.run.rate_per_s = Some(line.number(rate, "a rate")?);
        } else if text.starts_with("FATAL: ") && self.fatal.is_none() {
            self.fatal = Some((line.number, text.chars().take(120).collect()));
        } else if !text.starts_with(' ') {
            self.section = match text {
                "SQL statistics:" => Section::Statistics,
                "General statistics:" | "Throughput:" => Section::General,
                "Latency (ms):" => Section::Latency,
                _ if text.starts_with(HISTOGRAM) => Section::Histogram,
                // An empty line is in every section.
                "" => self.section,
                _ => Section::Other,
            };
        } else {
            self.take_in_section(line)?;
        }
        Ok(())
    }

    fn take_in_section(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        if self.section == Section::Histogram {
            return self.take_bucket(line);
        }
        let Some((name, value)) = line.text.split_once(':') else { return Ok(()) };
        let (name, value) = (name.trim(), value.trim());
        match self.section {
            Section::Statistics => self.take_statistic(line, name, value),
            Section::General => {
                match name {
                    // 1.0, then 1.1.
                    "total time" | "time elapsed" => {
                        let seconds = value.strip_suffix('s');
                        let seconds = seconds.ok_or_else(|| line.wrong("seconds"))?;
                        self.time_s = Some(line.number(seconds, "seconds")?);
                    }
                    "total number of events" => {
                        self.events = Some(line.count(value, "a number of events")?);
                    }
                    _ => {}
                }
                Ok(())
            }
            Section::Latency => self.take_latency(line, name, value),
            Section::Other | Section::Histogram => Ok(()),
        }
    }

    fn take_statistic(
        &mut self,
        line: Line<'_>,
        name: &str,
        value: &str,
    ) -> Result<(), ImportError> {
        let first = value.split(' ').next().unwrap_or_default();
        let kinds = ["read", "write", "other", "total"];
        if let Some(kind) = kinds.iter().position(|kind| *kind == name) {
            self.statements[kind] = line.count(first, "a number of queries")?;
            return Ok(());
        }
        match name {
            "transactions" => {
                self.run.transactions = line.count(first, "a number of transactions")?;
                let rate = between(value, "(", " per sec.)");
                let rate = rate.ok_or_else(|| line.wrong("a number and a rate"))?;
                self.run.tps = line.figure(rate, "a rate")?.unwrap_or(0.0);
                self.transactions = true;
            }
            "ignored errors" => self.run.retries = line.count(first, "a number of errors")?,
            _ => {}
        }
        Ok(())
    }

    fn take_latency(&mut self, line: Line<'_>, name: &str, value: &str) -> Result<(), ImportError> {
        let what = "milliseconds";
        let latency = &mut self.latency;
        match name {
            "min" => latency.min = line.figure(value, what)?,
            "avg" => latency.mean = line.figure(value, what)?,
            "max" => latency.max = line.figure(value, what)?,
            "50th percentile" => latency.p50 = line.figure(value, what)?,
            "90th percentile" => latency.p90 = line.figure(value, what)?,
            "95th percentile" => latency.p95 = line.figure(value, what)?,
            "99th percentile" => latency.p99 = line.figure(value, what)?,
            "sum" => {
                line.figure(value, what)?;
                self.complete = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// `       0.087 |******                                   249`
    fn take_bucket(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let Some((value, rest)) = line.text.split_once('|') else { return Ok(()) };
        let what = "a value, a bar and a count";
        let count = rest.rsplit(' ').next().unwrap_or_default();
        self.histogram.push((line.number(value, what)?, line.count(count, what)?));
        Ok(())
    }

    /// `1s ] thds: 2 tps: 341.52 qps: 6880.24 (r/w/o: ...) lat (ms,95%): 12.08 err/s: 1.00 reconn/s: 0.00`
    fn interval(&self, line: Line<'_>, rest: &str) -> Result<IntervalRow, ImportError> {
        let what = "a whole interval line, as \"[ 1s ] thds: 2 tps: 341.52 qps: ... lat (ms,95%): \
                    12.08 err/s: 1.00 reconn/s: 0.00\"";
        let part = |before: &str, after: &str| between(rest, before, after);
        let end = rest.split_once("s ]").map(|(end, _)| end);
        let (Some(end), Some(tps), Some(errors), Some(_)) = (
            end,
            part("tps: ", " qps: "),
            part("err/s: ", " reconn/s: "),
            part(") lat (ms,", " err/s"),
        ) else {
            return Err(line.wrong(what));
        };
        let end_s = line.number(end, what)?;
        let start_s = self.intervals.last().map_or(0.0, |row| row.start_s + row.length_s);
        let length_s = end_s - start_s;
        if length_s <= 0.0 {
            return Err(line.wrong("an interval that ends later than the one before it"));
        }
        let tps = line.figure(tps, what)?.unwrap_or(0.0);
        let percentile = match part("lat (ms,", "%): ") {
            Some(percentile) => {
                let latency = part("%): ", " err/s").ok_or_else(|| line.wrong(what))?;
                Some((percentile, line.figure(latency, what)?))
            }
            None => None,
        };
        let of = |wanted: &str| percentile.and_then(|(p, ms)| ms.filter(|_| p == wanted));
        let is_open = self.run.rate_per_s.is_some();
        Ok(IntervalRow {
            start_s,
            length_s,
            transactions: count_of(tps, length_s),
            tps,
            retries: count_of(line.figure(errors, what)?.unwrap_or(0.0), length_s),
            latency_p50_ms: of("50").filter(|_| !is_open),
            latency_p95_ms: of("95").filter(|_| !is_open),
            latency_p99_ms: of("99").filter(|_| !is_open),
            response_p50_ms: of("50").filter(|_| is_open),
            response_p95_ms: of("95").filter(|_| is_open),
            response_p99_ms: of("99").filter(|_| is_open),
            ..IntervalRow::default()
        })
    }

    /// The run, unless its report is cut off.
    pub(super) fn finish(mut self) -> Result<Imported, ImportError> {
        if let (false, Some((line, text))) = (self.complete, self.fatal.take()) {
            return Err(wrong(line, format!("this run of sysbench failed: {text}")));
        }
        let missing = match (self.threads, self.transactions, self.time_s, self.complete) {
            (false, ..) => Some("the number of threads"),
            (_, false, ..) => Some("the number of transactions"),
            (_, _, None, _) => Some("the total time"),
            (.., false) => Some("the latencies"),
            _ => None,
        };
        if let Some(missing) = missing {
            let why = format!("this run of sysbench is cut off: its output lacks {missing}");
            return Err(wrong(self.line, why));
        }
        let time_s = self.time_s.unwrap_or(0.0);
        self.take_quantiles();
        let run = &mut self.run;
        run.unknown = UNKNOWN.to_vec();
        run.duration_s = time_s;
        if time_s > 0.0 {
            #[expect(clippy::cast_precision_loss, reason = "counts of a run")]
            let [read, write, other, total] = self.statements.map(|count| count as f64 / time_s);
            run.statements_per_s = Some(StatementRates { read, write, other, total });
        }
        if run.rate_per_s.is_some() {
            // Its latency begins where the event came into the queue.
            run.response_ms = Some(self.latency);
            run.unknown.push("latency_ms");
        } else {
            run.latency_ms = self.latency;
        }
        if self.intervals.is_empty() {
            run.unknown.push("variance");
        }
        let counts: Vec<IntervalCount> = self
            .intervals
            .iter()
            .map(|row| IntervalCount { transactions: row.transactions, length_s: row.length_s })
            .collect();
        run.variance = Variance::of(&counts);
        Ok(Imported {
            tool: format!("sysbench {}", self.version),
            run: self.run,
            intervals: self.intervals,
        })
    }

    /// Quantiles that the report does not name, from the histogram as sysbench takes its own.
    fn take_quantiles(&mut self) {
        let total: u64 =
            self.histogram.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
        let at = |share: f64| {
            #[expect(clippy::cast_precision_loss, reason = "a count of a run")]
            let wanted = (total as f64 * share).round();
            let mut so_far = 0_u64;
            self.histogram.iter().find_map(|(value, count)| {
                so_far = so_far.saturating_add(*count);
                #[expect(clippy::cast_precision_loss, reason = "a count of a run")]
                let reached = so_far as f64 >= wanted;
                reached.then_some(*value)
            })
        };
        let latency = &mut self.latency;
        latency.p50 = latency.p50.or(at(0.5));
        latency.p90 = latency.p90.or(at(0.9));
        latency.p95 = latency.p95.or(at(0.95));
        latency.p99 = latency.p99.or(at(0.99));
        latency.p99_9 = latency.p99_9.or(at(0.999));
    }
}
