//! The lines of pgbench that hold several figures.

use super::ImportError;
use super::lines::Line;
use crate::result::run::{LatencyMs, Statement};

/// A line of progress.
pub(super) struct Progress {
    pub(super) line: u64,
    /// Seconds after the start, or after the epoch.
    pub(super) at_s: f64,
    pub(super) tps: f64,
    pub(super) latency_ms: Option<f64>,
    pub(super) lag_ms: Option<f64>,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) retries: u64,
}

/// Whether this is a line of progress, also one that is damaged.
pub(super) fn is_progress(text: &str) -> bool {
    text.strip_prefix("progress: ")
        .is_some_and(|rest| rest.contains(" tps") || rest.contains(" s,"))
}

/// `progress: 1.0 s, 920.5 tps, lat 2.295 ms stddev 2.177, 3 failed, lag 0.361 ms, 3 skipped, 4
/// retried, 5 retries`; 13 and 14 do not have what failed.
pub(super) fn progress(line: Line<'_>) -> Result<Progress, ImportError> {
    let what =
        "a whole line of progress, as \"progress: 1.0 s, 920.5 tps, lat 2.295 ms stddev 2.177\"";
    let mut parts = line.text.trim_start_matches("progress: ").split(", ");
    let mut next = |unit: &str| parts.next().and_then(|part| part.strip_suffix(unit));
    let at = next(" s").ok_or_else(|| line.wrong(what))?;
    let tps = next(" tps").ok_or_else(|| line.wrong(what))?;
    let latency = next("")
        .and_then(|part| part.strip_prefix("lat "))
        .and_then(|part| part.split_once(" ms stddev "));
    let (latency, stddev) = latency.ok_or_else(|| line.wrong(what))?;
    line.figure(stddev, what)?;
    let mut progress = Progress {
        line: line.number,
        at_s: line.number(at, what)?,
        tps: line.figure(tps, what)?.unwrap_or(0.0),
        latency_ms: line.figure(latency, what)?,
        lag_ms: None,
        failed: 0,
        skipped: 0,
        retries: 0,
    };
    for part in parts {
        if let Some(count) = part.strip_suffix(" failed") {
            progress.failed = line.count(count, what)?;
        } else if let Some(count) = part.strip_suffix(" skipped") {
            progress.skipped = line.count(count, what)?;
        } else if let Some(count) = part.strip_suffix(" retries") {
            progress.retries = line.count(count, what)?;
        } else if let Some(lag) =
            part.strip_prefix("lag ").and_then(|rest| rest.strip_suffix(" ms"))
        {
            progress.lag_ms = line.figure(lag, what)?;
        } else if let Some(count) = part.strip_suffix(" retried") {
            line.count::<u64>(count, what)?;
        } else {
            return Err(line.wrong(what));
        }
    }
    Ok(progress)
}

/// Name and value of a line of the report: `NAME: VALUE` or `NAME = VALUE`.
pub(super) fn item(text: &str) -> Option<(&str, &str)> {
    let above = "number of transactions above the ";
    if let Some(rest) = text.strip_prefix(above) {
        return rest.split_once(" latency limit: ").map(|(_, value)| (above.trim_end(), value));
    }
    let equals = text.find(" = ").map(|at| (at, 3));
    let colon = text.find(": ").map(|at| (at, 2));
    let (at, length) = match (equals, colon) {
        (Some(equals), Some(colon)) => equals.min(colon),
        (one, other) => one.or(other)?,
    };
    Some((&text[..at], &text[at + length..]))
}

/// `232/903 (25.692%)`, `430` or `1000/1000`.
pub(super) fn with_total(line: Line<'_>, value: &str) -> Result<(u64, Option<u64>), ImportError> {
    let what = "a number of transactions";
    let counts = value.split(' ').next().unwrap_or_default();
    match counts.split_once('/') {
        Some((count, total)) => Ok((line.count(count, what)?, Some(line.count(total, what)?))),
        None => Ok((line.count(counts, what)?, None)),
    }
}

/// `         0.413        2447       3172  UPDATE ...`: the latency, what failed since 15, retries
/// where there may be some.
pub(super) fn statement(line: Line<'_>, script: String, n: u32) -> Result<Statement, ImportError> {
    let what = "a latency, counts and a statement";
    let text = line.text.trim_start();
    let (latency, mut rest) = text.split_once(' ').ok_or_else(|| line.wrong(what))?;
    let mean = line.figure(latency, what)?;
    let mut counts = [0_u64; 2];
    for count in &mut counts {
        let Some((word, after)) = rest.trim_start().split_once(' ') else { break };
        let is_count = rest.starts_with("     ") && word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_count {
            break;
        }
        *count = line.count(word, what)?;
        rest = after;
    }
    Ok(Statement {
        script,
        n,
        text: rest.trim_start().to_owned(),
        count: 0,
        rows: 0,
        failed: counts[0],
        retries: counts[1],
        latency_ms: LatencyMs { mean, ..LatencyMs::default() },
    })
}
