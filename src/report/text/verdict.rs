//! Arms against the baseline: the verdicts, and the figures that they rest on.

use super::mean;
use super::sheet::Sheet;
use super::table::{Block, NO_FIGURE, blocks_under, format_per_txn, optional};
use super::wrap::{cut, hanging};
use crate::report::sentences::{self, Said};
use crate::result::comparison::Comparison;
use crate::result::{Run, Summary, distinct, whole};
use crate::stats::summary::{logs, stddev};
use crate::stats::verdict::NOT_INTERLEAVED_BANNER;
use crate::units::{format_ms, format_p, format_percent, format_tps};

/// Longest name of an arm as the head of a column.
const MAX_ARM_CHARS: usize = 20;

/// The sections of a summary that compares arms, the verdicts last, as what is read first.
pub(super) fn sections(summary: &Summary, width: usize) -> Vec<Vec<String>> {
    let parts = sheets(summary).into_iter().flat_map(|sheet| sheet.fitting(width));
    let mut sections: Vec<Vec<String>> = parts.map(|sheet| lines(&sheet, width)).collect();
    sections.extend([steadiness(summary, width), verdicts(summary, width)]);
    sections
}

/// Its tables.
pub(super) fn sheets(summary: &Summary) -> Vec<Sheet> {
    let all = [Some(by_arm(summary)), costs(summary), levels(summary), relative(summary)];
    all.into_iter().flatten().collect()
}

fn lines(sheet: &Sheet, width: usize) -> Vec<String> {
    let blocks = sheet.blocks.iter().map(|block| Block {
        title: block.title.as_ref().map(|title| cut(title, width)),
        rows: block.rows.clone(),
    });
    let blocks: Vec<Block> = blocks.collect();
    let mut lines = hanging("", &sheet.title, width);
    lines.extend(blocks_under(&sheet.heading, &blocks, sheet.left));
    lines
}

fn primaries(summary: &Summary) -> impl Iterator<Item = &Comparison> {
    summary.comparisons.iter().filter(|comparison| comparison.is_primary())
}

/// One sentence for each arm.
pub(super) fn verdicts(summary: &Summary, width: usize) -> Vec<String> {
    let workloads = distinct(primaries(summary).map(|c| c.workload.clone())).len();
    let mut lines = Vec::new();
    if primaries(summary).any(|comparison| !comparison.paired) {
        lines.extend(hanging("", &format!("Not interleaved: {NOT_INTERLEAVED_BANNER}"), width));
    }
    for comparison in primaries(summary) {
        let Said { headline, rest, ratio } =
            sentences::of(comparison, workloads > 1, str::to_owned);
        let text = std::iter::once(headline).chain(rest).chain(ratio).collect::<Vec<_>>();
        let text = text.join("; ");
        lines.extend(hanging("", &text, width));
    }
    lines
}

/// Runs of one arm, workload and level, over the rounds; those that were measured to their end, where
/// there are any.
fn cells(summary: &Summary) -> Vec<(String, Vec<&Run>)> {
    let mut cells: Vec<(String, Vec<&Run>)> = Vec::new();
    let known = summary.arms.iter().map(|arm| arm.name.clone());
    // Runs come in drawn order; arms stand as the plan has them.
    for arm in distinct(known.chain(summary.runs.iter().map(|run| run.arm.clone()))) {
        let of_arm: Vec<&Run> = summary.runs.iter().filter(|run| run.arm == arm).collect();
        for workload in distinct(of_arm.iter().map(|run| run.workload.clone())) {
            let mut runs: Vec<&Run> =
                of_arm.iter().filter(|run| run.workload == workload).copied().collect();
            runs.sort_by_key(|run| run.clients);
            for level in runs.chunk_by(|a, b| a.clients == b.clients) {
                cells.push((title(summary, &arm, &workload), whole(level)));
            }
        }
    }
    cells
}

fn title(summary: &Summary, arm: &str, workload: &str) -> String {
    let only = summary.runs.iter().all(|run| run.workload == workload);
    if only { arm.to_owned() } else { format!("{arm}, {workload}") }
}

/// A table with a row for each arm and level.
fn table(summary: &Summary, name: &str, head: &[&str], row: fn(&[&Run]) -> Vec<String>) -> Sheet {
    let mut blocks: Vec<Block> = Vec::new();
    for (title, runs) in cells(summary) {
        let row = row(&runs);
        match blocks.last_mut().filter(|block| block.title.as_deref() == Some(&title)) {
            Some(block) => block.rows.push(row),
            None => blocks.push(Block { title: Some(title), rows: vec![row] }),
        }
    }
    let mut heading: Vec<String> = head.iter().map(ToString::to_string).collect();
    drop_empty_columns(&mut heading, &mut blocks);
    Sheet { title: name.to_owned(), heading, blocks, left: 0, fixed: 1 }
}

/// A column in which no row has a figure says nothing.
fn drop_empty_columns(heading: &mut Vec<String>, blocks: &mut [Block]) {
    for column in (0..heading.len()).rev() {
        let mut rows = blocks.iter().flat_map(|block| &block.rows);
        if rows.all(|row| row[column] == NO_FIGURE) {
            heading.remove(column);
            for row in blocks.iter_mut().flat_map(|block| &mut block.rows) {
                row.remove(column);
            }
        }
    }
}

fn by_arm(summary: &Summary) -> Sheet {
    let head = [
        "clients\n",
        "runs\n",
        "tps\n1/s",
        "between\nrounds",
        "p50\nms",
        "p99\nms",
        "cv\n",
        "p5/p50\n",
        "failed\n",
    ];
    table(summary, "Means over the rounds", &head, |runs| {
        let logs = logs(&runs.iter().map(|run| run.tps).collect::<Vec<f64>>());
        let known = runs.iter().filter(|run| run.knows("failed"));
        let failed = known.map(|run| run.failed.total).reduce(|sum, failed| sum + failed);
        vec![
            runs[0].clients.to_string(),
            runs.len().to_string(),
            optional(mean(logs.iter().copied()).map(f64::exp), format_tps),
            optional(stddev(&logs), format_percent),
            optional(of(runs, |run| run.latency_ms.p50), format_ms),
            optional(of(runs, |run| run.latency_ms.p99), format_ms),
            optional(of(runs, |run| run.variance.cv), format_percent),
            optional(of(runs, |run| run.variance.steadiness), |share| format!("{share:.2}")),
            failed.map_or_else(|| NO_FIGURE.to_owned(), |failed| failed.to_string()),
        ]
    })
}

/// What a transaction cost the machine; nothing where no run has it.
fn costs(summary: &Summary) -> Option<Sheet> {
    let known = |run: &Run| run.host.as_ref().is_some_and(|host| host.same_machine);
    summary.runs.iter().find(|run| known(run))?;
    let head = [
        "clients\n",
        "other CPU\nus",
        "switches\n",
        "read\nKiB",
        "writes\n",
        "written\nKiB",
        "flushes\n",
    ];
    Some(table(summary, "Per transaction, on this machine", &head, |runs| {
        let figure = |name: &str| {
            let figures =
                runs.iter().filter_map(|run| run.host.as_ref()?.per_txn.get(name).copied());
            optional(mean(figures), format_per_txn)
        };
        let clients = runs[0].clients.to_string();
        let names = ["cpu_us", "context_switches", "read_kib", "writes", "written_kib", "flushes"];
        std::iter::once(clients).chain(names.map(figure)).collect()
    }))
}

/// Ratio and interval of each level.
fn levels(summary: &Summary) -> Option<Sheet> {
    let blocks: Vec<Block> = primaries(summary)
        .map(|comparison| Block {
            title: Some(level_title(comparison)),
            rows: level_rows(comparison),
        })
        .collect();
    let heading = ["clients", "ratio", "low", "high", "p", "Holm p"].map(str::to_owned).to_vec();
    let title = "Ratio to the baseline, with its 95 % confidence interval".to_owned();
    (!blocks.is_empty()).then_some(Sheet { title, heading, blocks, left: 0, fixed: 1 })
}

fn level_title(comparison: &Comparison) -> String {
    let Comparison { arm, baseline, metric, workload, .. } = comparison;
    let of = if workload.is_empty() { String::new() } else { format!(" of {workload}") };
    format!("{arm} / {baseline}, {metric}{of}")
}

fn level_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let four = |figure: Option<f64>| optional(figure, |figure| format!("{figure:.4}"));
    let chance = |p: Option<f64>| optional(p, format_p);
    let all = vec![
        "all".to_owned(),
        four(Some(comparison.ratio)),
        four(comparison.ci_low),
        four(comparison.ci_high),
        chance(comparison.p),
        chance(comparison.p_holm),
    ];
    let level = comparison.levels.iter().map(|level| {
        vec![
            level.clients.to_string(),
            four(Some(level.ratio)),
            four(level.ci_low),
            four(level.ci_high),
            chance(level.p),
            chance(level.p_holm),
        ]
    });
    // Of a single level the whole says the same, but for the simultaneous interval.
    let levels = if comparison.levels.len() > 1 { level.collect() } else { Vec::new() };
    [levels, vec![all]].concat()
}

/// Rows are tests, columns arms, the baseline is 1.00; only where arms stand beside each other.
fn relative(summary: &Summary) -> Option<Sheet> {
    let arms = distinct(primaries(summary).map(|c| c.arm.clone()));
    let baseline = primaries(summary).next()?.baseline.clone();
    if arms.len() < 2 {
        return None;
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for workload in distinct(primaries(summary).map(|c| c.workload.clone())) {
        let of_workload: Vec<&Comparison> =
            primaries(summary).filter(|c| c.workload == workload).collect();
        let clients =
            distinct(of_workload.iter().flat_map(|c| &c.levels).map(|level| level.clients));
        for clients in clients {
            let mut row =
                vec![cut(&workload, MAX_ARM_CHARS), clients.to_string(), "1.00".to_owned()];
            row.extend(arms.iter().map(|arm| {
                let of_arm = of_workload.iter().find(|c| c.arm == *arm);
                let level =
                    of_arm.and_then(|c| c.levels.iter().find(|level| level.clients == clients));
                level.map_or_else(|| NO_FIGURE.to_owned(), |level| format!("{:.2}", level.ratio))
            }));
            rows.push(row);
        }
    }
    let mut heading = vec!["test".to_owned(), "clients".to_owned()];
    heading.extend(std::iter::once(&baseline).chain(&arms).map(|arm| cut(arm, MAX_ARM_CHARS)));
    let blocks = vec![Block { title: None, rows }];
    Some(Sheet { title: format!("Relative to {baseline}"), heading, blocks, left: 1, fixed: 3 })
}

/// How the steadiness of the arms compares: without a verdict.
fn steadiness(summary: &Summary, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for comparison in summary.comparisons.iter().filter(|c| !c.is_primary()) {
        let (Some(low), Some(high)) = (comparison.ci_low, comparison.ci_high) else { continue };
        let Comparison { arm, baseline, workload, metric, ratio, .. } = comparison;
        let text =
            format!("{arm} / {baseline}, {workload}: {metric} {ratio:.2} ({low:.2}-{high:.2})");
        lines.extend(hanging("", &text, width));
    }
    if !lines.is_empty() {
        lines.insert(0, "Steadiness, ratio to the baseline (exploratory, no verdict)".to_owned());
    }
    lines
}

fn of(runs: &[&Run], figure: fn(&Run) -> Option<f64>) -> Option<f64> {
    mean(runs.iter().filter_map(|run| figure(run)))
}
