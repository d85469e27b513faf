//! pgbench's log of intervals (`-l --aggregate-interval`): a row of whole numbers for each.
//!
//! 13 and 14 write 6 columns, 10 with `--rate`, 11 with `--latency-limit`, too; 15 to 18 always 15.

use super::lines::{Line, lines, wrong};
use super::{ImportError, Imported};
use crate::result::run::LatencyMs;
use crate::result::{IntervalRow, Run, Variance};
use crate::stats::series::IntervalCount;

const COLUMNS: [usize; 4] = [6, 10, 11, 15];
/// A row must say when it began: a later year than 2001, and one before 2286.
const EPOCH: std::ops::Range<u64> = 1_000_000_000..10_000_000_000;
/// What such a log does not tell of a run.
const UNKNOWN: [&str; 9] = [
    "workload",
    "clients",
    "workers",
    "protocol",
    "rate_per_s",
    "asked_s",
    "clients_lost",
    "unfinished",
    "scripts",
];

/// A row of the log; times in microseconds.
struct Row {
    line: u64,
    start_s: u64,
    transactions: u64,
    sum: u64,
    sum_of_squares: u64,
    min: u64,
    max: u64,
    lag_sum: u64,
    lag_max: u64,
    skipped: u64,
    retried: u64,
    retries: u64,
    serialization: u64,
    deadlock: u64,
}

/// Whether the first line that is not empty is a row.
pub(super) fn is_meant(text: &str) -> bool {
    let first = lines(text).find(|line| !line.text.is_empty());
    first.is_some_and(|line| {
        let numbers: Option<Vec<u64>> =
            line.text.split(' ').map(|word| word.parse().ok()).collect();
        numbers
            .is_some_and(|numbers| COLUMNS.contains(&numbers.len()) && EPOCH.contains(&numbers[0]))
    })
}

/// The one run of a log.
pub(super) fn parse(text: &str) -> Result<Imported, ImportError> {
    let mut rows = Vec::new();
    let mut columns = None;
    for line in lines(text).filter(|line| !line.text.is_empty()) {
        let row = row(line)?;
        let of_row = line.text.split(' ').count();
        if *columns.get_or_insert(of_row) != of_row {
            return Err(line.wrong("as many columns as in the first row"));
        }
        rows.push(row);
    }
    // How long the last interval was, the log does not tell.
    let (Some(last), [first, second, ..]) = (rows.last(), &rows[..]) else {
        let why = "a log of one interval does not tell how long it was: two rows are needed";
        return Err(wrong(rows.first().map_or(1, |row| row.line), why));
    };
    let length_s = second.start_s.saturating_sub(first.start_s);
    for pair in rows.windows(2) {
        if length_s == 0 || pair[1].start_s != pair[0].start_s.saturating_add(length_s) {
            let why = format!(
                "the interval that starts at {} does not follow the one at {}: each file of a \
                 pgbench with several threads, and each run, is a log of its own",
                pair[1].start_s, pair[0].start_s
            );
            return Err(wrong(pair[1].line, why));
        }
    }
    let has_last = last.transactions > 0;
    rows.pop();
    let warning = format!(
        "the last interval is left out: the log does not tell how much of its {length_s} s was \
         measured"
    );
    Ok(run_of(&rows, float(length_s), has_last.then_some(warning)))
}

fn row(line: Line<'_>) -> Result<Row, ImportError> {
    let what = "6, 10, 11 or 15 whole numbers, as in pgbench's aggregate log";
    let numbers: Vec<u64> =
        line.text.split(' ').map(|word| line.count(word, what)).collect::<Result<_, _>>()?;
    if !COLUMNS.contains(&numbers.len()) || !EPOCH.contains(&numbers[0]) {
        return Err(line.wrong(what));
    }
    let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
    if at(4) > at(5) {
        return Err(line.wrong("a smallest latency that is not above the largest"));
    }
    Ok(Row {
        line: line.number,
        start_s: at(0),
        transactions: at(1),
        sum: at(2),
        sum_of_squares: at(3),
        min: at(4),
        max: at(5),
        lag_sum: at(6),
        lag_max: at(9),
        skipped: at(10),
        retried: at(11),
        retries: at(12),
        serialization: at(13),
        deadlock: at(14),
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts and microseconds of a run")]
fn float(count: u64) -> f64 {
    count as f64
}

fn sum(rows: &[Row], of: fn(&Row) -> u64) -> u64 {
    rows.iter().map(of).fold(0, u64::saturating_add)
}

fn run_of(rows: &[Row], length_s: f64, warning: Option<String>) -> Imported {
    let duration_s = length_s * float(rows.len() as u64);
    let transactions = sum(rows, |row| row.transactions);
    let counted = float(transactions);
    let is_open = sum(rows, |row| row.lag_sum) > 0;
    let mean = |total: u64| (transactions > 0).then(|| float(total) / counted / 1000.0);
    let squares = rows.iter().map(|row| float(row.sum_of_squares)).sum::<f64>() / 1e6;
    let busy = || rows.iter().filter(|row| row.transactions > 0);
    let mean_ms = mean(sum(rows, |row| row.sum));
    let latency = LatencyMs {
        mean: mean_ms,
        stddev: mean_ms.map(|mean| (squares / counted - mean * mean).max(0.0).sqrt()),
        min: busy().map(|row| float(row.min) / 1000.0).reduce(f64::min),
        max: busy().map(|row| float(row.max) / 1000.0).reduce(f64::max),
        ..LatencyMs::default()
    };
    let counts: Vec<IntervalCount> =
        rows.iter().map(|row| IntervalCount { transactions: row.transactions, length_s }).collect();
    let mut run = Run::of_rate("", 1, 0, counted / duration_s);
    run.duration_s = duration_s;
    run.transactions = transactions;
    run.skipped = sum(rows, |row| row.skipped);
    run.retried = sum(rows, |row| row.retried);
    run.retries = sum(rows, |row| row.retries);
    for (code, of) in
        [("40001", (|row| row.serialization) as fn(&Row) -> u64), ("40P01", |row| row.deadlock)]
    {
        let failed = sum(rows, of);
        run.failed.total += failed;
        if failed > 0 {
            run.failed.by_code.insert(code.to_owned(), failed);
        }
    }
    run.unknown = UNKNOWN.to_vec();
    if is_open {
        // pgbench's latency of a paced transaction begins at its intended start.
        run.response_ms = Some(latency);
        run.lag_ms = Some(LatencyMs {
            mean: mean(sum(rows, |row| row.lag_sum)),
            max: busy().map(|row| float(row.lag_max) / 1000.0).reduce(f64::max),
            ..LatencyMs::default()
        });
        run.unknown.push("latency_ms");
    } else {
        run.latency_ms = latency;
    }
    run.variance = Variance::of(&counts);
    run.warnings.extend(warning);
    let intervals = (0..).zip(rows).map(|(index, row)| interval(index, row, length_s, is_open));
    Imported { tool: "pgbench".to_owned(), intervals: intervals.collect(), run }
}

fn interval(index: u32, row: &Row, length_s: f64, is_open: bool) -> IntervalRow {
    let counted = float(row.transactions);
    let mean = |total: u64| (row.transactions > 0).then(|| float(total) / counted / 1000.0);
    let max = |max: u64| (row.transactions > 0).then(|| float(max) / 1000.0);
    let of = |known: bool, figure: Option<f64>| figure.filter(|_| known);
    IntervalRow {
        start_s: length_s * f64::from(index),
        length_s,
        transactions: row.transactions,
        tps: counted / length_s,
        failed: row.serialization.saturating_add(row.deadlock),
        retries: row.retries,
        skipped: row.skipped,
        latency_mean_ms: of(!is_open, mean(row.sum)),
        latency_max_ms: of(!is_open, max(row.max)),
        response_mean_ms: of(is_open, mean(row.sum)),
        response_max_ms: of(is_open, max(row.max)),
        lag_mean_ms: of(is_open, mean(row.lag_sum)),
        lag_max_ms: of(is_open, max(row.lag_max)),
        ..IntervalRow::default()
    }
}
