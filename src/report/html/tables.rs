//! The tables beside the charts: every number that a chart shows can be read.

use serde::Serialize;

use super::data::is_open;
use super::groups::{Cell, Cost, Groups};
use super::words;
use crate::result::comparison::{Comparison, Verdict};
use crate::result::{Run, Summary};
use crate::units::{format_p, plural};

/// What stands where a figure does not exist.
const NONE: &str = "–";

/// A table: names of columns, rows that begin with a header.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    columns: Vec<String>,
    rows: Vec<Row>,
}

/// One row.
#[derive(Debug, Serialize)]
struct Row {
    /// The number of the arm, for its colour.
    arm: Option<usize>,
    head: String,
    cells: Vec<Entry>,
}

/// One cell.
#[derive(Debug, Serialize)]
struct Entry {
    text: String,
    /// Below it, smaller.
    note: String,
    /// A number: stands at the right.
    number: bool,
    /// The kind of a verdict, for the tint.
    kind: &'static str,
}

fn number(text: impl Into<String>) -> Entry {
    Entry { text: text.into(), note: String::new(), number: true, kind: "" }
}

fn text(text: impl Into<String>) -> Entry {
    Entry { text: text.into(), note: String::new(), number: false, kind: "" }
}

fn fixed(value: Option<f64>, decimals: usize) -> Entry {
    number(value.map_or(NONE.to_owned(), |value| format!("{value:.decimals$}")))
}

fn count(value: u64) -> Entry {
    number(value.to_string())
}

/// A count that another tool may not have told.
fn known(run: &Run, field: &str, value: u64) -> Entry {
    if run.knows(field) { count(value) } else { number(NONE) }
}

impl Table {
    pub(super) fn new(columns: &[&str]) -> Self {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Self { columns, rows: Vec::new() }
    }

    /// A row of texts.
    pub(super) fn row(&mut self, head: &str, cells: Vec<String>) {
        let cells = cells.into_iter().map(text).collect();
        self.rows.push(Row { arm: None, head: head.to_owned(), cells });
    }

    /// A row of texts about an arm.
    pub(super) fn row_of_arm(&mut self, arm: usize, head: &str, cells: Vec<String>) {
        let cells = cells.into_iter().map(text).collect();
        self.rows.push(Row { arm: Some(arm), head: head.to_owned(), cells });
    }

    /// Without the columns in which no row has anything but `nothing`.
    pub(super) fn without_empty_columns(mut self, nothing: &str) -> Self {
        for column in (0..self.columns.len().saturating_sub(1)).rev() {
            if self.rows.iter().all(|row| row.cells[column].text == nothing) {
                self.columns.remove(column + 1);
                for row in &mut self.rows {
                    row.cells.remove(column);
                }
            }
        }
        self
    }

    fn entries(&mut self, arm: usize, head: &str, cells: Vec<Entry>) {
        self.rows.push(Row { arm: Some(arm), head: head.to_owned(), cells });
    }
}

fn table_of_cells<const N: usize>(
    groups: &Groups<'_>,
    columns: [&str; N],
    entries: impl Fn(&Cell<'_>) -> Vec<Entry>,
) -> Table {
    let mut all = vec!["arm", "workload", "clients"];
    all.extend(columns);
    let mut table = Table::new(&all);
    for cell in &groups.cells {
        let place = [text(groups.workloads[cell.workload].as_str()), count(cell.clients.into())];
        let cells = place.into_iter().chain(entries(cell)).collect();
        table.entries(cell.arm, &groups.arms[cell.arm], cells);
    }
    table
}

/// Throughput by level.
pub(super) fn clients(groups: &Groups<'_>) -> Table {
    let columns = ["tps, geometric mean", "95 % from", "95 % to", "between rounds, %", "rounds"];
    table_of_cells(groups, columns, |cell| {
        let mean = cell.tps();
        vec![
            fixed(Some(mean.value), 1),
            fixed(mean.interval.map(|(low, _)| low), 1),
            fixed(mean.interval.map(|(_, high)| high), 1),
            fixed(mean.spread.map(|spread| 100.0 * spread), 1),
            count(mean.rounds as u64),
        ]
    })
}

/// Percentiles, as means over the rounds: a percentile of all together is not known.
pub(super) fn latency(groups: &Groups<'_>) -> Table {
    let columns = ["mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max of all"];
    table_of_cells(groups, columns, |cell| {
        let of = |get: fn(&crate::result::LatencyMs) -> Option<f64>| {
            let latency = |run: &Run| get(run.response_ms.as_ref().unwrap_or(&run.latency_ms));
            fixed(cell.mean_of(latency), 3)
        };
        let slowest = |run: &&Run| run.response_ms.as_ref().unwrap_or(&run.latency_ms).max;
        let max = cell.runs.iter().filter_map(slowest).max_by(f64::total_cmp);
        vec![
            of(|ms| ms.mean),
            of(|ms| ms.p50),
            of(|ms| ms.p90),
            of(|ms| ms.p95),
            of(|ms| ms.p99),
            of(|ms| ms.p99_9),
            of(|ms| ms.p99_99),
            fixed(max, 3),
        ]
    })
}

/// How steady the throughput was, as means over the rounds.
pub(super) fn steadiness(groups: &Groups<'_>) -> Table {
    let columns =
        ["cv %", "robust cv %", "p5/p50", "lowest tps", "dips", "stalled s", "longest stall s"];
    table_of_cells(groups, columns, |cell| {
        let variance = cell.runs.iter().map(|run| &run.variance);
        let lowest = variance.clone().filter_map(|v| v.min_tps).min_by(f64::total_cmp);
        let dips: usize = variance.clone().map(|v| v.dips.len()).sum();
        let stalls: Vec<f64> = variance.clone().filter_map(|v| v.stall_s).collect();
        let stalled = (!stalls.is_empty()).then(|| stalls.iter().sum());
        let longest = variance.filter_map(|v| v.longest_stall_s).max_by(f64::total_cmp);
        vec![
            fixed(cell.mean_of(|run| Some(100.0 * run.variance.cv?)), 1),
            fixed(cell.mean_of(|run| Some(100.0 * run.variance.robust_cv?)), 1),
            fixed(cell.mean_of(|run| run.variance.steadiness), 3),
            fixed(lowest, 1),
            count(dips as u64),
            fixed(stalled, 1),
            fixed(longest, 1),
        ]
    })
}

/// What a transaction cost, as means over the rounds: tables of so many columns that paper holds
/// them.
pub(super) fn costs(groups: &Groups<'_>) -> Vec<Table> {
    groups.costs().chunks(COSTS_OF_A_TABLE).map(|costs| table_of_costs(groups, costs)).collect()
}

/// Costs that stand beside each other.
const COSTS_OF_A_TABLE: usize = 8;

fn table_of_costs(groups: &Groups<'_>, costs: &[Cost]) -> Table {
    let titles: Vec<String> = costs
        .iter()
        .map(|cost| match cost.unit {
            "" => cost.title.clone(),
            unit => format!("{}, {unit}", cost.title),
        })
        .collect();
    let mut columns = vec!["arm", "workload", "clients"];
    columns.extend(titles.iter().map(String::as_str));
    let mut table = Table::new(&columns);
    for cell in &groups.cells {
        let mut cells =
            vec![text(groups.workloads[cell.workload].as_str()), count(cell.clients.into())];
        cells
            .extend(costs.iter().map(|cost| number(cost.mean_of(cell).map_or(NONE.into(), short))));
        table.entries(cell.arm, &groups.arms[cell.arm], cells);
    }
    table
}

/// Three digits or the whole number, whichever is more.
fn short(value: f64) -> String {
    let decimals = if value == 0.0 || value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else if value.abs() >= 1.0 {
        2
    } else {
        4
    };
    format!("{value:.decimals$}")
}

/// Ratios with their intervals, over all levels and by level.
pub(super) fn forest(summary: &Summary) -> Table {
    let columns = [
        "arm / baseline",
        "workload",
        "clients",
        "ratio",
        "95 % from",
        "95 % to",
        "p",
        "p (Holm)",
        "verdict",
    ];
    let mut table = Table::new(&columns);
    for one in words::primaries(summary) {
        let head = format!("{} / {}", one.arm, one.baseline);
        let arm = summary.arms.iter().position(|arm| arm.name == one.arm);
        let mut row = |clients: Entry, ratio: f64, ends: [Option<f64>; 4], verdict: Entry| {
            let [low, high, p, p_holm] = ends;
            let chance = |p: Option<f64>| number(p.map_or(NONE.to_owned(), format_p));
            let mut cells = vec![text(one.workload.as_str()), clients, fixed(Some(ratio), 4)];
            cells.extend([fixed(low, 4), fixed(high, 4), chance(p), chance(p_holm), verdict]);
            table.rows.push(Row { arm, head: head.clone(), cells });
        };
        let ends = [one.ci_low, one.ci_high, one.p, one.p_holm];
        row(text("all"), one.ratio, ends, text(one.verdict.key()));
        for level in &one.levels {
            let ends = [level.ci_low, level.ci_high, level.p, level.p_holm];
            row(count(level.clients.into()), level.ratio, ends, text(NONE));
        }
    }
    table
}

/// Tests by arms: the change against the baseline. `None` without a comparison.
pub(super) fn relative(summary: &Summary, groups: &Groups<'_>) -> Option<Table> {
    let primaries = words::primaries(summary);
    let first = primaries.first()?;
    let others: Vec<&String> = groups.arms.iter().filter(|arm| **arm != first.baseline).collect();
    let latency = first.metric != "tps";
    let unit = if latency { "p99 ms" } else { "tps" };
    let baseline = format!("{} (baseline), {unit}", first.baseline);
    let mut columns = vec!["test", baseline.as_str()];
    columns.extend(others.iter().map(|arm| arm.as_str()));
    let mut table = Table::new(&columns);
    let base = groups.arm(&first.baseline);
    for (index, workload) in groups.workloads.iter().enumerate() {
        let compared =
            |arm: &str| primaries.iter().find(|one| one.arm == *arm && one.workload == *workload);
        for clients in &groups.levels[index] {
            let mine = |cell: &&Cell<'_>| {
                Some(cell.arm) == base && cell.workload == index && cell.clients == *clients
            };
            let cell = groups.cells.iter().find(mine);
            let figure = match latency {
                true => fixed(cell.and_then(|cell| cell.mean_of(|run| run.response_ms?.p99)), 3),
                false => fixed(cell.map(|cell| cell.tps().value), 1),
            };
            let mut cells = vec![figure];
            for arm in &others {
                let level = compared(arm)
                    .and_then(|one| one.levels.iter().find(|level| level.clients == *clients));
                cells.push(level.map_or_else(
                    || number(NONE),
                    |level| {
                        let decided = compared(arm).is_some_and(has_verdict)
                            && level.p_holm.is_some_and(|p| p < SIGNIFICANT);
                        let entry = tinted(level.ratio, level.ci_low.zip(level.ci_high), latency);
                        Entry { kind: if decided { entry.kind } else { "" }, ..entry }
                    },
                ));
            }
            table.rows.push(Row {
                arm: None,
                head: test(workload, &plural(*clients, "client")),
                cells,
            });
        }
        let mut cells = vec![number(NONE)];
        for arm in &others {
            cells.push(compared(arm).map_or_else(
                || number(NONE),
                |one| Entry {
                    kind: one.verdict.key(),
                    ..tinted(one.ratio, one.ci_low.zip(one.ci_high), latency)
                },
            ));
        }
        table.rows.push(Row { arm: None, head: test(workload, "all levels"), cells });
    }
    Some(table)
}

/// A level's change is shown as one when its p, Holm's correction over the levels included, is below.
const SIGNIFICANT: f64 = 0.05;

fn has_verdict(one: &&Comparison) -> bool {
    one.verdict != Verdict::None
}

/// The name of a test; of a workload that is not known, the level alone.
fn test(workload: &str, level: &str) -> String {
    if workload.is_empty() { level.to_owned() } else { format!("{workload}, {level}") }
}

/// A change with its interval below, and its direction where the interval leaves out no change.
fn tinted(ratio: f64, interval: Option<(f64, f64)>, latency: bool) -> Entry {
    // Of a latency less is faster.
    let (above, below) = if latency { ("slower", "faster") } else { ("faster", "slower") };
    let kind = match interval {
        Some((low, _)) if low > 1.0 => above,
        Some((_, high)) if high < 1.0 => below,
        _ => "",
    };
    let note = match interval {
        Some((low, high)) => words::interval(low, high),
        None => String::new(),
    };
    Entry { text: words::change(ratio), note, number: true, kind }
}

/// How many dips coincide with events of the server. `None` where there is nothing to tell.
pub(super) fn dip_events(groups: &Groups<'_>) -> Option<Table> {
    let columns = [
        "arm",
        "workload",
        "clients",
        "event",
        "dips",
        "coincide",
        "covered by them, % of the time",
    ];
    let mut table = Table::new(&columns);
    for cell in &groups.cells {
        let dips: usize = cell.runs.iter().map(|run| run.variance.dips.len()).sum();
        let all = || cell.runs.iter().flat_map(|run| &run.variance.dip_events);
        let mut kinds: Vec<&String> = all().map(|found| &found.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let coincident: u64 =
                all().filter(|found| found.kind == *kind).map(|f| f.coincident as u64).sum();
            let covered = cell.mean_of(|run| {
                let found = run.variance.dip_events.iter().find(|found| found.kind == *kind);
                Some(found.map_or(0.0, |found| 100.0 * found.covered))
            });
            let cells = vec![
                text(groups.workloads[cell.workload].as_str()),
                count(cell.clients.into()),
                text(kind.replace('_', " ")),
                count(dips as u64),
                count(coincident),
                fixed(covered, 1),
            ];
            table.entries(cell.arm, &groups.arms[cell.arm], cells);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// How the steadiness of the arms compares: without a verdict. `None` where nothing was compared.
pub(super) fn explored(summary: &Summary) -> Option<Table> {
    let columns = ["arm / baseline", "workload", "figure", "ratio", "95 % from", "95 % to"];
    let mut table = Table::new(&columns);
    for one in summary.comparisons.iter().filter(|one| !one.is_primary()) {
        let figure = match one.metric.as_str() {
            "robust_cv" => "robust cv",
            "steadiness" => "p5/p50",
            other => other,
        };
        let arm = summary.arms.iter().position(|arm| arm.name == one.arm);
        let cells = vec![
            text(one.workload.as_str()),
            text(figure),
            fixed(Some(one.ratio), 4),
            fixed(one.ci_low, 4),
            fixed(one.ci_high, 4),
        ];
        table.rows.push(Row { arm, head: format!("{} / {}", one.arm, one.baseline), cells });
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Every run as the summary has it.
pub(super) fn runs(summary: &Summary) -> Table {
    let columns = [
        "arm",
        "round",
        "workload",
        "clients",
        "transactions",
        "tps",
        "failed",
        "retries",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "max ms",
        "cv %",
        "measured s",
        "complete",
    ];
    let mut table = Table::new(&columns);
    for run in &summary.runs {
        let latency = if is_open(run) { run.response_ms } else { Some(run.latency_ms) };
        let latency = latency.unwrap_or_default();
        let arm = summary.arms.iter().position(|arm| arm.name == run.arm);
        table.rows.push(Row {
            arm,
            head: run.arm.clone(),
            cells: vec![
                count(run.round.into()),
                text(run.workload.as_str()),
                count(run.clients.into()),
                known(run, "transactions", run.transactions),
                fixed(Some(run.tps), 1),
                known(run, "failed", run.failed.total),
                known(run, "retries", run.retries),
                fixed(latency.p50, 3),
                fixed(latency.p95, 3),
                fixed(latency.p99, 3),
                fixed(latency.max, 3),
                fixed(run.variance.cv.map(|cv| 100.0 * cv), 1),
                fixed(run.knows("duration_s").then_some(run.duration_s), 1),
                text(if run.complete { "yes" } else { "no" }),
            ],
        });
    }
    table
}
