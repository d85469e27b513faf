//! The report that a person reads at the end: what was measured, the tables, what went wrong.
//!
//! Pure text from a [`Summary`], for a given width; what is not in the summary cannot be shown.
//! `docs/output.md` defines every figure.

mod markdown;
mod parts;
mod probes;
mod sheet;
mod table;
mod verdict;
mod wrap;

use super::spark::{Marks, sparkline};
use crate::result::{Run, Summary};
use crate::units::format_tps;
use crate::units::plural;
use parts::{dips_and_drifts, failures, measured, notes, scripts, statements, workers};
use table::{
    COST, Column, Distribution, EVERYTHING, Group, INNODB, LATENCY, SERVER, STEADINESS, THROUGHPUT,
};

pub use markdown::markdown;
pub(super) use wrap::hanging;

/// Marks of a run over time.
const MOST_MARKS: usize = 60;

/// Narrower terminals get the tables of this width, with the lines broken by the terminal.
const MIN_WIDTH: usize = 40;

/// How a report is to look.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Columns that lines may take.
    pub width: usize,
    /// Whether the figures of each statement are shown.
    pub statements: bool,
}

/// The report without the warnings: what was measured, all levels, failures, and the figures of
/// scripts where there are several. Ends with a newline.
pub fn report(summary: &Summary, look: Look) -> String {
    report_with_series(summary, look, &[], Marks::Ascii)
}

/// The same with a line of marks for each run: `series` has the tps of its intervals.
pub fn report_with_series(
    summary: &Summary,
    look: Look,
    series: &[Vec<f64>],
    marks: Marks,
) -> String {
    let width = look.width.max(MIN_WIDTH);
    let groups = groups(&summary.runs);
    let mut sections = vec![measured(summary, width)];
    if summary.runs.is_empty() {
        sections.push(vec!["Nothing was measured.".to_owned()]);
    } else if nothing_committed(summary) {
        // Empty tables would bury the reason.
        sections.push(failures(&groups, width));
    } else if summary.comparisons.is_empty() {
        sections.extend(tables(summary, &groups, width));
        sections.push(over_time(summary, &groups, series, marks, width));
        sections.push(dips_and_drifts(&groups, width));
        sections.push(workers(&groups, width));
        sections.push(notes(summary, width));
        sections.push(failures(&groups, width));
        sections.push(scripts(&groups, width));
        if look.statements {
            sections.push(statements(&groups, width));
        }
    } else {
        // A table of every run would be a hundred lines: they are in the folder.
        sections.push(notes(summary, width));
        sections.push(failures(&groups, width));
        sections.push(probes::probes(summary, width));
        sections.extend(verdict::sections(summary, width));
    }
    joined(&sections)
}

/// Whether every transaction failed, or every client, so that there is no figure of any.
fn nothing_committed(summary: &Summary) -> bool {
    let failed = |run: &Run| {
        run.transactions == 0 && (run.failed.total > 0 || run.clients_lost == run.clients)
    };
    summary.comparisons.is_empty() && summary.runs.iter().all(failed)
}

/// The warnings of the whole and of each run, every sentence once; empty when there is none.
pub fn warnings(summary: &Summary, width: usize) -> String {
    let sentences = warning_sentences(summary);
    let lines = sentences.iter().flat_map(|text| hanging("warning: ", text, width.max(MIN_WIDTH)));
    lines.map(|line| line + "\n").collect()
}

fn warning_sentences(summary: &Summary) -> Vec<String> {
    let groups = groups(&summary.runs);
    let mut seen: Vec<Alike<'_>> = Vec::new();
    for group in &groups {
        for run in &group.runs {
            for warning in &run.warnings {
                let of = run_name(group, groups.len(), run);
                let kind = without_figures(warning);
                match seen.iter_mut().find(|alike| alike.kind == kind) {
                    Some(alike) => {
                        alike.runs.push(of);
                        alike.differ |= alike.first != warning;
                    }
                    None => {
                        let runs = vec![of];
                        seen.push(Alike { kind, first: warning, differ: false, runs });
                    }
                }
            }
        }
    }
    let of_runs = seen.iter().map(|alike| alike.sentence(summary.runs.len()));
    summary.warnings.iter().cloned().chain(of_runs).collect()
}

/// Warnings that differ in their figures at most.
struct Alike<'s> {
    kind: String,
    first: &'s str,
    differ: bool,
    runs: Vec<String>,
}

/// More runs than this are counted in place of being named.
const MOST_NAMED: usize = 3;

impl Alike<'_> {
    fn sentence(&self, of: usize) -> String {
        let Self { first, runs, .. } = self;
        let who = match runs.len() {
            count if count <= MOST_NAMED => runs.join("; "),
            count if count == of => format!("all {count} runs"),
            count => format!("{count} of {of} runs (first {})", runs[0]),
        };
        let figures = if self.differ {
            format!(" (the figures are those of {})", runs[0])
        } else {
            String::new()
        };
        format!("{who}: {first}{figures}")
    }
}

/// What warnings that differ in their figures at most have in common.
pub(super) fn without_figures(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect()
}

/// How a run is named in a sentence.
fn run_name(group: &Group<'_>, groups: usize, run: &Run) -> String {
    let clients = plural(run.clients, "client");
    if groups > 1 { format!("{}, {clients}", group.title) } else { clients }
}

/// The mean of figures that are there.
fn mean(figures: impl Iterator<Item = f64>) -> Option<f64> {
    crate::stats::summary::mean(&figures.collect::<Vec<f64>>())
}

/// The level tables: in a closed loop latency is one distribution, with a rate there are three,
/// and response stands first.
fn tables(summary: &Summary, groups: &[Group<'_>], width: usize) -> Vec<Vec<String>> {
    let service: Distribution = |run| Some(run.latency_ms);
    let titled = |title: &str, layouts: &[&[&[Column]]], of| {
        let narrowest = || Some(table::layout_lines(layouts.last()?, groups, of));
        let table = table::first_that_fits(layouts, groups, of, width).or_else(narrowest);
        let mut lines = hanging("", title, width);
        lines.extend(table.into_iter().flatten());
        lines
    };
    let mut last = vec![titled("How steady the throughput was", STEADINESS, service)];
    if has_costs(summary) {
        last.push(titled("Per transaction, on this machine", COST, service));
    }
    if has_server_counters(summary) {
        last.push(titled("Per transaction, by the server's counters", SERVER, service));
    }
    if has_innodb_counters(summary) {
        last.push(titled("Per transaction, by InnoDB's counters", INNODB, service));
    }
    if summary.runs.iter().any(|run| run.connect_ms.is_some()) {
        let title = "Connecting: from the start of the transaction to the end of the login, part of its \
                     latency";
        last.insert(0, titled(title, LATENCY, |run| run.connect_ms));
    }
    if summary.runs.iter().any(|run| run.pool_wait_ms.is_some()) {
        let title = "Waiting for the pool: from the start of the transaction to its connection, part \
                     of its latency";
        last.insert(0, titled(title, LATENCY, |run| run.pool_wait_ms));
    }
    let open_loop = summary.runs.iter().any(|run| run.response_ms.is_some());
    if !open_loop
        && let Some(everything) = table::first_that_fits(EVERYTHING, groups, service, width)
    {
        return [vec![everything], last].concat();
    }
    let mut sections = vec![titled("Throughput", THROUGHPUT, service)];
    if open_loop {
        sections.push(titled(
            "Response time: from the intended start to the end",
            LATENCY,
            |run| run.response_ms,
        ));
        sections.push(titled(
            "Service time: from the start of the first try to the end",
            LATENCY,
            service,
        ));
        sections
            .push(titled("Lag: from the intended start to the start", LATENCY, |run| run.lag_ms));
    } else {
        sections.push(titled(
            "Latency: from the start of the first try to the end of the transaction",
            LATENCY,
            service,
        ));
    }
    sections.extend(last);
    sections
}

/// A line of marks for each run, under each other.
fn over_time(
    summary: &Summary,
    groups: &[Group<'_>],
    series: &[Vec<f64>],
    marks: Marks,
    width: usize,
) -> Vec<String> {
    let mut rows: Vec<(String, &[f64], String)> = Vec::new();
    for group in groups {
        for run in &group.runs {
            let index = summary.runs.iter().position(|other| std::ptr::eq(other, *run));
            let Some(rates) = index.and_then(|index| series.get(index)) else { continue };
            let (Some(low), Some(high)) = (
                rates.iter().copied().min_by(f64::total_cmp),
                rates.iter().copied().max_by(f64::total_cmp),
            ) else {
                continue;
            };
            let name = wrap::cut(&run_name(group, groups.len(), run), width / 3);
            rows.push((name, rates, format!("{}-{}", format_tps(low), format_tps(high))));
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let widest =
        |of: fn(&(String, &[f64], String)) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let (names, ranges) = (widest(|row| row.0.chars().count()), widest(|row| row.2.len()));
    let room = width.saturating_sub(names + ranges + 4).clamp(1, MOST_MARKS);
    let title = "Throughput over time, from 0 to the highest tps (behind: lowest-highest)";
    let mut lines = hanging("", title, width);
    lines.extend(rows.iter().map(|(name, rates, range)| {
        format!("{name:>names$}  {}  {range}", sparkline(rates, room, marks))
    }));
    lines
}

fn has_costs(summary: &Summary) -> bool {
    let costs = |run: &Run| run.host.as_ref().is_some_and(|host| host.same_machine);
    summary.runs.iter().any(costs)
}

fn has_server_counters(summary: &Summary) -> bool {
    let counts = |run: &Run| has_counter(run, "wal_bytes") && !has_counter(run, "pages_flushed");
    summary.runs.iter().any(counts)
}

fn has_innodb_counters(summary: &Summary) -> bool {
    summary.runs.iter().any(|run| has_counter(run, "pages_flushed"))
}

fn has_counter(run: &Run, name: &str) -> bool {
    run.server.as_ref().is_some_and(|server| server.per_txn.contains_key(name))
}

/// Runs that have workload, arm and round in common, in the order of first appearance. The title
/// names only what differs between groups.
fn groups(runs: &[Run]) -> Vec<Group<'_>> {
    fn key(run: &Run) -> (&str, &str, u32) {
        (&run.workload, &run.arm, run.round)
    }
    let Some(first) = runs.first() else { return Vec::new() };
    let differs = |same: fn(&Run, &Run) -> bool| runs.iter().any(|run| !same(run, first));
    let (workloads, arms, rounds) = (
        differs(|a, b| a.workload == b.workload),
        differs(|a, b| a.arm == b.arm),
        differs(|a, b| a.round == b.round),
    );
    let title = |run: &Run| {
        let mut parts = Vec::new();
        if workloads {
            parts.push(run.workload.clone());
        }
        if arms {
            parts.push(run.arm.clone());
        }
        if rounds {
            parts.push(format!("round {}", run.round));
        }
        wrap::one_line(&parts.join(", "))
    };
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| group.runs.iter().any(|other| key(other) == key(run)))
        {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { title: title(run), runs: vec![run] }),
        }
    }
    groups
}

/// Sections with an empty line between them; empty sections leave no trace.
fn joined(sections: &[Vec<String>]) -> String {
    let full: Vec<String> =
        sections.iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
    full.join("\n\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_runs_are_warned_of_is_said_once() {
        let alike = |count: u32, differ| Alike {
            kind: String::new(),
            first: "too short",
            differ,
            runs: (1..=count).map(|round| format!("round {round}")).collect(),
        };
        assert_eq!(alike(2, false).sentence(20), "round 1; round 2: too short");
        assert_eq!(alike(20, false).sentence(20), "all 20 runs: too short");
        let some = "5 of 20 runs (first round 1): too short (the figures are those of round 1)";
        assert_eq!(alike(5, true).sentence(20), some);
        assert_eq!(without_figures("Measure for 1.5 s"), without_figures("Measure for 20 s"));
    }
}
