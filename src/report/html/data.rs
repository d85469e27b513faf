//! The numbers of the charts, as the script of the page reads them: arrays, rounded to what can be
//! seen, long runs thinned to real rows.

use serde::Serialize;
use serde_json::{Value, json};

use super::input::Results;
use super::server::{self, SHOWN, Stretch};
use super::{groups::Groups, percentiles};
use crate::result::{Event, IntervalRow, Run};
use crate::stats::series::{IntervalCount, slices};
use crate::stats::summary::{quantile_of_sorted, sorted};

/// Rows of all runs together that a page holds; more are thinned.
const MOST_ROWS: usize = 40_000;
/// However many runs there are, each keeps so many rows.
const FEWEST_ROWS_OF_A_RUN: usize = 60;
/// Rows that each bucket of a thinned run keeps: lowest and highest tps, longest latency.
const KEPT_OF_A_BUCKET: usize = 3;
/// Rates of the server's counters that a page holds, all runs and counters together.
const MOST_RATES: usize = 20_000;
/// Events of a run that are drawn, the longest first.
const MOST_EVENTS_OF_A_RUN: usize = 200;

/// One run for the charts over time.
#[derive(Debug, Serialize)]
struct RunSeries {
    /// Index of the arm, of the workload; clients and round.
    a: usize,
    w: usize,
    c: u32,
    r: u32,
    /// Length of the window in seconds, and its mean tps.
    d: f64,
    tps: f64,
    /// Intervals that were measured; more than `t.len()` where they were thinned.
    n: usize,
    /// Start and length of each interval, its tps, and its latencies in ms.
    t: Vec<f64>,
    l: Vec<f64>,
    y: Vec<f64>,
    p50: Vec<Option<f64>>,
    p99: Vec<Option<f64>>,
    max: Vec<Option<f64>>,
    /// Latency at the quantiles of the grid, and transactions.
    q: Vec<f64>,
    k: u64,
    /// The greatest latency.
    qmax: Option<f64>,
    dips: Vec<[f64; 3]>,
    outages: Vec<[f64; 2]>,
    ev: Vec<Value>,
    /// Ends of the stretches of `server.csv`, and for each counter that is shown its rates.
    st: Vec<f64>,
    s: Vec<Vec<Option<f64>>>,
}

/// The whole of the data.
pub(super) fn chart_data(results: &Results, groups: &Groups<'_>) -> Value {
    let summary = &results.summary;
    let counters = moving(results);
    let budget = (MOST_ROWS / summary.runs.len().max(1)).max(FEWEST_ROWS_OF_A_RUN);
    let runs: Vec<RunSeries> = summary
        .runs
        .iter()
        .zip(&results.percentiles)
        .filter_map(|(run, table)| series(results, groups, run, (table, budget), &counters))
        .collect();
    json!({
        "arms": groups.arms,
        "workloads": groups.workloads,
        "levels": groups.levels,
        "open": summary.runs.iter().any(is_open),
        "grid": percentiles::grid().into_iter().map(|q| digits(q, 9)).collect::<Vec<_>>(),
        "runs": runs,
        "server": counters.iter().map(|at| [SHOWN[*at].1, SHOWN[*at].2]).collect::<Vec<_>>(),
        "metric": super::words::metric(summary),
        "means": means(groups),
        "boxes": boxes(results, groups),
        "costs": costs(groups),
        "forest": super::words::primaries(summary),
    })
}

/// The counters of the server that moved in some run.
pub(super) fn moving(results: &Results) -> Vec<usize> {
    let moved = |at: usize| {
        let runs = results.summary.runs.iter();
        runs.flat_map(|run| results.server_of(run))
            .any(|stretch| stretch.grown[at].is_some_and(|grown| grown > 0.0))
    };
    (0..SHOWN.len()).filter(|at| moved(*at)).collect()
}

/// Whether latencies are shown from the intended start.
pub(super) fn is_open(run: &Run) -> bool {
    run.response_ms.is_some()
}

/// Rounds to significant digits: what a chart can show.
fn digits(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent of a double fits")]
    let exponent = digits - 1 - value.abs().log10().floor() as i32;
    let factor = 10_f64.powi(exponent.abs());
    // Dividing by a power of ten that is exact gives the nearest double, and so the shortest text.
    if exponent >= 0 {
        (value * factor).round() / factor
    } else {
        (value / factor).round() * factor
    }
}

fn series(
    results: &Results,
    groups: &Groups<'_>,
    run: &Run,
    (table, budget): (&[f64], usize),
    counters: &[usize],
) -> Option<RunSeries> {
    let server = server::thinned(
        results.server_of(run),
        MOST_RATES / (results.summary.runs.len() * counters.len()).max(1),
    );
    let rates = |at: &usize| {
        let rate = |stretch: &Stretch| {
            let grown = stretch.grown[*at]?;
            Some(digits(grown * SHOWN[*at].3 / stretch.length_s.max(f64::EPSILON), 5))
        };
        server.iter().map(rate).collect()
    };
    let rows: Vec<&IntervalRow> = results.intervals_of(run).iter().collect();
    let kept = thinned(&rows, budget);
    let open = is_open(run);
    let latency = |service: fn(&IntervalRow) -> Option<f64>,
                   response: fn(&IntervalRow) -> Option<f64>| {
        let of = if open { response } else { service };
        kept.iter().map(|row| of(row).map(|ms| digits(ms, 5))).collect::<Vec<_>>()
    };
    let distribution = run.response_ms.as_ref().unwrap_or(&run.latency_ms);
    Some(RunSeries {
        a: groups.arm(&run.arm)?,
        w: groups.workload(&run.workload)?,
        c: run.clients,
        r: run.round,
        d: digits(run.duration_s, 7),
        tps: digits(run.tps, 7),
        n: rows.len(),
        t: kept.iter().map(|row| digits(row.start_s, 6)).collect(),
        l: kept.iter().map(|row| digits(row.length_s, 4)).collect(),
        y: kept.iter().map(|row| digits(row.tps, 6)).collect(),
        p50: latency(|row| row.latency_p50_ms, |row| row.response_p50_ms),
        p99: latency(|row| row.latency_p99_ms, |row| row.response_p99_ms),
        max: latency(|row| row.latency_max_ms, |row| row.response_max_ms),
        q: table.iter().map(|ms| digits(*ms, 4)).collect(),
        k: run.transactions,
        qmax: distribution.max.map(|ms| digits(ms, 5)),
        dips: run
            .variance
            .dips
            .iter()
            .map(|dip| [dip.start_s, dip.length_s, digits(dip.depth_pct, 3)])
            .collect(),
        outages: run.outages.iter().map(|outage| [outage.start_s, outage.length_s]).collect(),
        ev: events(results, run),
        st: if counters.is_empty() {
            vec![]
        } else {
            server.iter().map(|s| digits(s.at_s, 6)).collect()
        },
        s: counters.iter().map(rates).collect(),
    })
}

/// At most about `budget` of the rows: of every stretch the ones with the lowest and the highest
/// throughput and the longest latency. They are rows as measured, so a dip stays as deep as it was.
fn thinned<'a>(rows: &[&'a IntervalRow], budget: usize) -> Vec<&'a IntervalRow> {
    if rows.len() <= budget {
        return rows.to_vec();
    }
    let bucket = rows.len().div_ceil((budget / KEPT_OF_A_BUCKET).max(1));
    let mut kept = Vec::new();
    for rows in rows.chunks(bucket) {
        let by = |of: fn(&IntervalRow) -> f64| {
            move |a: &(usize, &&IntervalRow), b: &(usize, &&IntervalRow)| {
                of(a.1).total_cmp(&of(b.1))
            }
        };
        let of_bucket = || rows.iter().enumerate();
        let slowest = |row: &IntervalRow| row.response_max_ms.or(row.latency_max_ms).unwrap_or(0.0);
        let mut indices: Vec<usize> = [
            of_bucket().min_by(by(|row| row.tps)),
            of_bucket().max_by(by(|row| row.tps)),
            of_bucket().max_by(by(slowest)),
        ]
        .into_iter()
        .flatten()
        .map(|(index, _)| index)
        .collect();
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|index| rows[index]));
    }
    kept
}

/// Start, end and words of what happened in a run; an end is `null` where it went on.
fn events(results: &Results, run: &Run) -> Vec<Value> {
    let own = |event: &&Event| {
        event.arm == run.arm
            && event.round == run.round
            && event.workload == run.workload
            && event.clients == run.clients
    };
    let mut events: Vec<&Event> = results.events.iter().flatten().filter(own).collect();
    let length = |event: &Event| event.end_s.unwrap_or(run.duration_s) - event.start_s;
    events.sort_by(|a, b| length(b).total_cmp(&length(a)));
    events.truncate(MOST_EVENTS_OF_A_RUN);
    events.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    events
        .into_iter()
        .map(|event| {
            let subject = event.subject.as_ref().map(|subject| format!(" {subject}"));
            let count = (event.count > 1).then(|| format!(" ×{}", event.count));
            let words = format!("{}{}", subject.unwrap_or_default(), count.unwrap_or_default());
            json!([
                digits(event.start_s, 6),
                event.end_s.map(|end| digits(end, 6)),
                event.kind,
                words
            ])
        })
        .collect()
}

/// Mean tps of every arm and level, with its interval.
fn means(groups: &Groups<'_>) -> Vec<Value> {
    let cells = groups.cells.iter();
    cells
        .map(|cell| {
            let mean = cell.tps();
            let ends = mean.interval.map(|(low, high)| [digits(low, 6), digits(high, 6)]);
            json!({
                "a": cell.arm, "w": cell.workload, "c": cell.clients, "n": mean.rounds,
                "y": digits(mean.value, 7), "ci": ends,
                "all": cell.runs.iter().map(|run| digits(run.tps, 7)).collect::<Vec<_>>(),
            })
        })
        .collect()
}

/// How the throughput of the slices of all rounds is distributed.
fn boxes(results: &Results, groups: &Groups<'_>) -> Vec<Value> {
    let of_cell = |cell: &super::groups::Cell<'_>| {
        let mut rates = Vec::new();
        for run in &cell.runs {
            let counts: Vec<IntervalCount> = results
                .intervals_of(run)
                .iter()
                .map(|row| IntervalCount { transactions: row.transactions, length_s: row.length_s })
                .collect();
            rates.extend(slices(&counts).into_iter().map(IntervalCount::tps));
        }
        let rates = sorted(&rates);
        let at = |q| quantile_of_sorted(&rates, q).map(|tps| digits(tps, 5));
        Some(json!({
            "a": cell.arm, "w": cell.workload, "c": cell.clients, "n": rates.len(),
            "rounds": cell.runs.len(),
            "q": [at(0.0)?, at(0.05)?, at(0.25)?, at(0.5)?, at(0.75)?, at(0.95)?, at(1.0)?],
        }))
    };
    groups.cells.iter().filter_map(of_cell).collect()
}

/// What a transaction cost: a chart for each counter that some run has.
fn costs(groups: &Groups<'_>) -> Vec<Value> {
    let charts = groups.costs();
    charts
        .into_iter()
        .map(|cost| {
            let points: Vec<Value> = groups
                .cells
                .iter()
                .filter_map(|cell| {
                    let value = cost.mean_of(cell)?;
                    Some(json!([cell.arm, cell.workload, cell.clients, digits(value, 5)]))
                })
                .collect();
            json!({ "name": cost.title, "unit": cost.unit, "of": points })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_can_be_seen() {
        assert_eq!(digits(12_345.678, 6), 12_345.7);
        assert_eq!(digits(0.001_234_567, 4), 0.001_235);
        assert_eq!(digits(1_234_567.0, 3), 1_230_000.0);
        assert_eq!((digits(0.0, 3), digits(f64::NAN, 3)), (0.0, 0.0));
    }

    #[test]
    fn thinning_keeps_the_deepest_dip_and_the_longest_latency() {
        let row = |i: u32| IntervalRow {
            interval: i,
            tps: if i == 777 { 3.0 } else { 1000.0 + f64::from(i % 7) },
            latency_max_ms: Some(if i == 1234 { 900.0 } else { 5.0 }),
            ..IntervalRow::default()
        };
        let rows: Vec<IntervalRow> = (0..3600).map(row).collect();
        let rows: Vec<&IntervalRow> = rows.iter().collect();
        let kept = thinned(&rows, 300);
        assert!(kept.len() <= 300 && kept.len() > 100, "{}", kept.len());
        assert!(kept.iter().any(|row| row.interval == 777));
        assert!(kept.iter().any(|row| row.interval == 1234));
        assert!(kept.is_sorted_by_key(|row| row.interval));
        assert_eq!(thinned(&rows, 3600).len(), 3600);
    }
}
