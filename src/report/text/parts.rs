//! The parts of the report around the level tables.

use super::run_name;
use super::table::{Block, Group, NO_FIGURE, blocks_under, optional};
use super::wrap::{cut, hanging, one_line};
use crate::plan::Protocol;
use crate::result::distinct;
use crate::result::run::{Statement, WorkerShare};
use crate::result::summary::Arm;
use crate::result::{Dip, Run, Summary, Variance};
use crate::units::plural;
use crate::units::{format_count, format_ms, format_percent, format_tps};

/// Least room for the name of a script or the text of a statement.
const MIN_NAME_CHARS: usize = 10;

/// Dips and outages that are shown one by one.
const MAX_DIPS: usize = 5;

/// What was measured: targets, workloads, load.
pub(super) fn measured(summary: &Summary, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for arm in &summary.arms {
        lines.extend(hanging("target    ", &target(arm, summary.arms.len() > 1), width));
    }
    let Some(run) = summary.runs.first() else { return lines };
    for workload in distinct(summary.runs.iter().filter_map(workload)) {
        lines.extend(hanging("workload  ", &workload, width));
    }
    for sql in distinct(summary.runs.iter().flat_map(|run| run.session_sql.iter().cloned())) {
        lines.extend(hanging("session   ", &one_line(&sql), width));
    }
    let listed = |of: fn(&Run) -> u32| {
        let mut values: Vec<u32> = distinct(summary.runs.iter().map(of));
        values.sort_unstable();
        values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    };
    let (clients, workers) = (listed(|run| run.clients), listed(|run| run.workers));
    let mut load = Vec::new();
    if run.knows("rate_per_s") {
        load.push(match run.rate_per_s {
            None => "closed loop".to_owned(),
            Some(rate) => format!("open loop at {} tps", format_tps(rate)),
        });
    }
    let mut levels = match run.knows("clients") {
        true => format!("{clients} client{}", if clients == "1" { "" } else { "s" }),
        false => "an unknown number of clients".to_owned(),
    };
    if run.knows("workers") {
        let noun = if workers == "1" { "worker" } else { "workers" };
        levels.push_str(&format!(" on {workers} {noun}"));
    }
    load.push(levels);
    if run.connect_ms.is_some() {
        load.push("a new connection for every transaction".to_owned());
    }
    load.extend(run.pool.map(|size| format!("sharing a pool of {}", plural(size, "connection"))));
    load.extend(run.ramp_s.map(|seconds| format!("joining over {seconds} s")));
    load.extend(asked(run));
    let rounds = summary.rounds();
    if rounds != "1" {
        load.push(format!("{rounds} rounds"));
    }
    // Without a plan of the whole there is no seed of the whole.
    if !summary.plan_hash.is_empty() {
        load.push(format!("seed {}", summary.seed));
    }
    lines.extend(hanging("load      ", &load.join(", "), width));
    lines
}

fn target(arm: &Arm, named: bool) -> String {
    let mut text = if named { format!("{} = ", arm.name) } else { String::new() };
    text.push_str(&arm.target);
    if let Some(version) = &arm.server_version {
        let product = match arm.engine.as_str() {
            "postgres" => "PostgreSQL",
            "sqlite" => "SQLite",
            "mariadb" => "MariaDB",
            // The URL says mysql for both.
            "mysql" if version.contains("MariaDB") => "MariaDB",
            "mysql" => "MySQL",
            other => other,
        };
        // Some servers name themselves in their version, others do not.
        let named = version.to_lowercase().contains(&product.to_lowercase());
        let product = if named { String::new() } else { format!("{product} ") };
        text.push_str(&format!(", {product}{version}"));
    }
    if let Some(storage) = &arm.storage {
        let parts = [&storage.file_system, &storage.device];
        let known: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        if !known.is_empty() {
            text.push_str(&format!(", data on {}", known.join(" on ")));
        }
    }
    text
}

/// Nothing where it is not known.
fn workload(run: &Run) -> Option<String> {
    let protocol = match run.protocol {
        _ if !run.knows("protocol") => "",
        Protocol::Simple => ", simple protocol",
        Protocol::Extended => ", extended protocol",
        Protocol::Prepared => ", prepared statements",
    };
    let size = match (run.scale, run.tables, run.table_size) {
        (Some(scale), ..) => format!(", scale {scale}"),
        (None, Some(tables), Some(rows)) => {
            format!(", {} of {rows} rows", plural(tables, "table"))
        }
        _ => String::new(),
    };
    let pipeline = if run.pipeline { ", pipelined: one round trip a transaction" } else { "" };
    (!run.workload.is_empty()).then(|| format!("{}{size}{protocol}{pipeline}", run.workload))
}

/// How long a run was to be.
fn asked(run: &Run) -> Option<String> {
    run.asked_s.map(|seconds| format!("{seconds} s each")).or_else(|| {
        let count = run.asked_transactions?;
        Some(format!("{} each client", plural(count, "transaction")))
    })
}

/// Explanations of marks, and counts that are no column.
pub(super) fn notes(summary: &Summary, width: usize) -> Vec<String> {
    let runs = &summary.runs;
    let mut notes = Vec::new();
    if runs.iter().any(|run| !run.complete) {
        notes.push("* not measured to the end".to_owned());
    }
    if runs.iter().any(|run| run.knows("variance") && run.variance.stall_s.is_none()) {
        notes.push(
            "stalled -: under 20 transactions in the median second are too few to tell".to_owned(),
        );
    }
    if runs.iter().any(|run| run.host.as_ref().is_some_and(|host| !host.same_machine)) {
        notes.push(
            "the server is on another machine: host.csv is about this one, and what a transaction \
             cost the server's is not known"
                .to_owned(),
        );
    }
    let sum = |of: fn(&Run) -> u64| runs.iter().map(of).sum::<u64>();
    let mut counts = Vec::new();
    if sum(|run| run.retries) > 0 {
        counts.push(format!(
            "{} transactions retried ({} retries)",
            format_count(sum(|run| run.retried)),
            format_count(sum(|run| run.retries))
        ));
    }
    for (what, count) in [
        ("skipped as too late", sum(|run| run.skipped)),
        ("over the latency limit", sum(|run| run.late.unwrap_or(0))),
        ("not started at the end", sum(|run| run.queued_at_end.unwrap_or(0))),
        ("unfinished at the end", sum(|run| run.unfinished)),
    ] {
        if count > 0 {
            counts.push(format!("{} {what}", format_count(count)));
        }
    }
    if !counts.is_empty() {
        notes.push(format!("over all runs: {}", counts.join(", ")));
    }
    notes.iter().flat_map(|note| hanging("", note, width)).collect()
}

/// How evenly the workers shared the work, one line for each run with several.
pub(super) fn workers(groups: &[Group<'_>], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for group in groups {
        for run in &group.runs {
            let all: u64 = run.worker_shares.iter().map(|share| share.transactions).sum();
            if all == 0 {
                continue;
            }
            let of_all = |share: &WorkerShare| share.transactions as f64 / all as f64;
            let mut text = format!(
                "{} workers, each {} of the transactions",
                run.worker_shares.len(),
                range_pct(run.worker_shares.iter().map(of_all))
            );
            let busy: Vec<f64> = run.worker_shares.iter().filter_map(|share| share.busy).collect();
            if !busy.is_empty() {
                text.push_str(&format!(", {} busy", range_pct(busy.into_iter())));
            }
            let lead = format!("{}: ", run_name(group, groups.len(), run));
            lines.extend(hanging(&lead, &text, width));
        }
    }
    lines
}

/// Shares as `49.1 to 50.9 %`.
fn range_pct(shares: impl Iterator<Item = f64>) -> String {
    let (low, high) = shares
        .fold((f64::INFINITY, 0.0_f64), |(low, high), share| (low.min(share), high.max(share)));
    format!("{:.1} to {:.1} %", low * 100.0, high * 100.0)
}

/// A drift is shown where chance makes one as large in less than one run of twenty.
const DRIFT_P: f64 = 0.05;

/// What the steadiness table has no column for, one line for each run that has something.
pub(super) fn dips_and_drifts(groups: &[Group<'_>], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for group in groups {
        for run in &group.runs {
            let mut parts: Vec<String> = outages(run).into_iter().collect();
            parts.extend(dips(&run.variance));
            if let (Some(slope), Some(p)) = (run.variance.drift_pct_per_min, run.variance.drift_p)
                && p < DRIFT_P
            {
                parts.push(format!("drift {slope:+.2} % a minute"));
            }
            if !parts.is_empty() {
                let lead = format!("{}: ", run_name(group, groups.len(), run));
                lines.extend(hanging(&lead, &parts.join("; "), width));
            }
        }
    }
    lines
}

/// `without connection: 16 clients at 3.2 s for 1.4 s`.
fn outages(run: &Run) -> Option<String> {
    let shown = run.outages.iter().take(MAX_DIPS).map(|outage| {
        let clients = plural(outage.clients, "client");
        format!("{clients} at {:.1} s for {:.1} s", outage.start_s, outage.length_s)
    });
    let shown: Vec<String> = shown.collect();
    let more = run.outages.len().saturating_sub(MAX_DIPS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("without connection: {}{more}", shown.join(", ")))
}

/// `2 dips, about every 30 s: at 12 s for 3 s (-80 %), at 42 s for 2 s (-75 %); 2 of 2 dips
/// coincide with a checkpoint`.
fn dips(variance: &Variance) -> Option<String> {
    let shown = variance.dips.iter().take(MAX_DIPS).map(|dip| {
        let Dip { start_s, length_s, depth_pct } = dip;
        format!("at {start_s:.0} s for {length_s:.0} s (-{depth_pct:.0} %)")
    });
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() {
        return None;
    }
    let every = variance.dip_period_s.map(|period| format!(", about every {period:.0} s"));
    let more = variance.dips.len().saturating_sub(MAX_DIPS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = plural(variance.dips.len() as u64, "dip");
    let mut text = format!("{count}{}: {}{more}", every.unwrap_or_default(), shown.join(", "));
    for of in &variance.dip_events {
        // Events that are nearly always there coincide with everything.
        let share = of.coincident as f64 / variance.dips.len() as f64;
        if of.coincident > 0 && share > of.covered {
            text.push_str(&format!(
                "; {} of {count} coincide with {} {} ({} of the time)",
                of.coincident,
                if of.kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" },
                of.kind.replace('_', " "),
                format_percent(of.covered),
            ));
        }
    }
    Some(text)
}

/// Failed transactions by code, with the first messages.
pub(super) fn failures(groups: &[Group<'_>], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for group in groups {
        for run in group.runs.iter().filter(|run| run.failed.total > 0) {
            let codes: Vec<String> = run
                .failed
                .by_code
                .iter()
                .map(|(code, count)| format!("{code} x {}", format_count(*count)))
                .collect();
            let lead = format!("{}: ", run_name(group, groups.len(), run));
            lines.extend(hanging(&lead, &codes.join(", "), width));
            for sample in &run.failed.samples {
                let text = format!("{}: {}", sample.code, sample.text);
                lines.extend(hanging("    ", &text, width));
            }
            lines.extend(failed_at(run, width));
        }
    }
    if !lines.is_empty() {
        lines.insert(0, "Failed transactions by code".to_owned());
    }
    lines
}

/// Statements that are named with what failed at them.
const MAX_FAILED_AT: usize = 3;

/// The statements at which most transactions failed.
fn failed_at(run: &Run, width: usize) -> Vec<String> {
    let mut failed: Vec<&Statement> =
        run.statements.iter().filter(|statement| statement.failed > 0).collect();
    failed.sort_by_key(|statement| std::cmp::Reverse(statement.failed));
    let lines = failed.iter().take(MAX_FAILED_AT).flat_map(|statement| {
        let Statement { script, n, text, failed, .. } = statement;
        let count = format_count(*failed);
        hanging("    ", &format!("{count} at statement {n} of {script}: {}", one_line(text)), width)
    });
    lines.collect()
}

/// Figures of each script of a mix.
pub(super) fn scripts(groups: &[Group<'_>], width: usize) -> Vec<String> {
    let heading = ["script", "txns", "tps", "failed", "retries", "mean", "p50", "p99", "max"];
    let blocks = run_blocks(groups, |run| {
        // Of a single script the level table says the same.
        let scripts = if run.scripts.len() > 1 { &run.scripts[..] } else { &[] };
        scripts
            .iter()
            .map(|script| {
                let ms = &script.latency_ms;
                vec![
                    format!("{}@{}", script.name, script.weight),
                    format_count(script.transactions),
                    format_tps(script.tps),
                    format_count(script.failed),
                    format_count(script.retries),
                    optional(ms.mean, format_ms),
                    optional(ms.p50, format_ms),
                    optional(ms.p99, format_ms),
                    optional(ms.max, format_ms),
                ]
            })
            .collect()
    });
    titled("Scripts by name@weight (times in ms)", &heading, blocks, width)
}

/// Figures of each statement, when they were asked for: the texts once, then a table by number; in
/// a mix each script's apart.
pub(super) fn statements(groups: &[Group<'_>], width: usize) -> Vec<String> {
    let heading = ["n", "count", "rows", "failed", "retries", "mean", "p50", "p99", "max"];
    let is_mix = runs(groups).any(|(_, run)| run.scripts.len() > 1);
    let mut texts = Vec::new();
    let mut scripts: Vec<&str> = Vec::new();
    let mut blocks = Vec::new();
    for (group, run) in runs(groups) {
        let name = run_name(group, groups.len(), run);
        for statements in run.statements.chunk_by(|one, next| one.script == next.script) {
            let script = &statements[0].script[..];
            if !scripts.contains(&script) {
                scripts.push(script);
                texts.extend(is_mix.then(|| cut(script, width)));
                for Statement { n, text, .. } in statements {
                    texts.extend(hanging(&format!("{n:>3}  "), text, width));
                }
            }
            blocks.push(Block {
                title: Some(if is_mix { format!("{name}: {script}") } else { name.clone() }),
                rows: statements.iter().map(|statement| statement_row(run, statement)).collect(),
            });
        }
    }
    let mut lines = titled("Statements by number (times in ms)", &heading, blocks, width);
    if let Some((title, _)) = lines.split_first() {
        texts.insert(0, title.clone());
        lines.splice(..1, texts);
    }
    lines
}

fn statement_row(run: &Run, statement: &Statement) -> Vec<String> {
    let ms = &statement.latency_ms;
    let known = |field, count| match run.knows(field) {
        true => format_count(count),
        false => NO_FIGURE.to_owned(),
    };
    vec![
        statement.n.to_string(),
        known("statements.count", statement.count),
        known("statements.rows", statement.rows),
        format_count(statement.failed),
        format_count(statement.retries),
        optional(ms.mean, format_ms),
        optional(ms.p50, format_ms),
        optional(ms.p99, format_ms),
        optional(ms.max, format_ms),
    ]
}

fn runs<'a>(groups: &'a [Group<'a>]) -> impl Iterator<Item = (&'a Group<'a>, &'a Run)> {
    groups.iter().flat_map(|group| group.runs.iter().map(move |run| (group, *run)))
}

/// A block for each run that has rows, under the name of the run.
fn run_blocks(groups: &[Group<'_>], rows: fn(&Run) -> Vec<Vec<String>>) -> Vec<Block> {
    runs(groups)
        .map(|(group, run)| Block {
            title: Some(run_name(group, groups.len(), run)),
            rows: rows(run),
        })
        .filter(|block| !block.rows.is_empty())
        .collect()
}

/// A table under a title, its first column cut to the room that the others leave; nothing when
/// it has no row.
fn titled(title: &str, heading: &[&str], mut blocks: Vec<Block>, width: usize) -> Vec<String> {
    if blocks.is_empty() {
        return Vec::new();
    }
    let column_width = |column: usize| {
        let cells = blocks.iter().flat_map(|block| &block.rows).map(|row| &row[column]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(heading[column].len())
    };
    let others: usize = (1..heading.len()).map(|column| 2 + column_width(column)).sum();
    let room = width.saturating_sub(others).max(MIN_NAME_CHARS);
    for row in blocks.iter_mut().flat_map(|block| &mut block.rows) {
        row[0] = cut(&row[0], room);
    }
    let heading: Vec<String> = heading.iter().map(ToString::to_string).collect();
    let mut lines = hanging("", title, width);
    lines.extend(blocks_under(&heading, &blocks, 1));
    lines
}
