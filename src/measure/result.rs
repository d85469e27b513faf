//! From what a level measured to its entry in `summary.json`.

use std::time::Duration;

use crate::result::Variance;
use crate::result::run::{
    Failed, FailureSample, LatencyMs, Outage, Run, Script, Statement, StatementRates, WorkerShare,
};
use crate::result::warning::Warning;
use crate::runner::level::{Outcome, WorkerPart};
use crate::runner::outages;
use crate::runner::tally::Tally;
use crate::runner::{Length, LevelSettings, Sessions};
use crate::script::program::StatementKind;
use crate::stats::histogram::Histogram;
use crate::stats::precision::{mean_interval, too_short};
use crate::stats::series::IntervalCount;
use crate::workload::{TableCount, Workload};

use super::observe::Place;
use super::records::Recorded;

/// A busier worker than this may be what limits the throughput.
const BUSY: f64 = 0.8;

/// What a run is known by, beside its outcome.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) place: &'a Place,
    pub(crate) settings: &'a LevelSettings,
    pub(crate) workload: &'a Workload,
    /// Scale factor, where one plays a part.
    pub(crate) scale: Option<u64>,
    /// The sysbench tables, where they play a part.
    pub(crate) tables: Option<TableCount>,
    /// What was done to the tables before.
    pub(crate) notes: &'a [Warning],
    /// Path of each script's text in the results folder.
    pub(crate) script_files: &'a [String],
    /// What was recorded beside the intervals.
    pub(crate) recorded: Recorded,
    /// How often the server makes a checkpoint, where it does so by the clock.
    pub(crate) checkpoint_s: Option<f64>,
    /// The engine works in the clients' own threads.
    pub(crate) worker_per_client: bool,
}

/// The entry of `summary.json`.
pub(crate) fn run_of(frame: &Frame<'_>, outcome: &Outcome) -> Run {
    let Frame { place, settings, workload, .. } = frame;
    let total = &outcome.total;
    let seconds = outcome.measured.as_secs_f64();
    let latency = total.latency();
    let open = total.open();
    let committed = total.committed();
    let counts = interval_counts(outcome);
    let mut variance = Variance::of(&counts);
    variance.join(&frame.recorded.events, seconds);
    let interval = mean_interval(&counts);
    let mut warnings = warnings(frame, outcome, &latency);
    let checkpoint_s = frame.checkpoint_s.filter(|_| writes(workload, total));
    let reasons = too_short(seconds, interval.as_ref(), variance.dip_period_s, checkpoint_s);
    if committed > 0 {
        warnings.extend(reasons.into_iter().map(Warning::TooShort));
    }
    let (connect_ms, pool, pool_wait_ms) = acquiring(settings, total);
    Run {
        arm: place.arm.clone(),
        round: place.round,
        workload: place.workload.clone(),
        scale: frame.scale,
        tables: frame.tables.map(|known| known.tables),
        table_size: frame.tables.map(|known| known.table_size),
        clients: settings.clients,
        workers: if frame.worker_per_client {
            settings.clients
        } else {
            settings.workers.min(settings.clients)
        },
        worker_shares: worker_shares(frame, outcome),
        protocol: settings.protocol,
        pipeline: settings.pipeline,
        session_sql: settings.session_sql.clone(),
        rate_per_s: settings.rate.map(|rate| rate.per_s),
        ramp_s: (!settings.ramp.is_zero()).then_some(settings.ramp.as_secs_f64()),
        duration_s: seconds,
        asked_s: match settings.length {
            Length::Duration(asked) => Some(asked.as_secs_f64()),
            Length::Transactions(_) => None,
        },
        asked_transactions: settings.length.transactions(),
        transactions: committed,
        tps: rate(committed, seconds),
        ci_tps: interval.map(|interval| [interval.low_tps, interval.high_tps]),
        ess: interval.map(|interval| interval.ess),
        hlog: frame.recorded.hlog.clone(),
        latency_ms: latency_ms(&latency),
        response_ms: open.as_ref().map(|open| latency_ms(&open.response)),
        lag_ms: open.as_ref().map(|open| latency_ms(&open.lag)),
        connect_ms,
        pool,
        pool_wait_ms,
        schedule_error_ms: outcome.open.as_ref().map(|open| latency_ms(&open.wake)),
        failed: failed(total),
        retried: total.retried(),
        retries: total.retries(),
        clients_lost: u32::try_from(outcome.lost.len()).unwrap_or(u32::MAX),
        skipped: total.skipped,
        late: total.late(),
        unfinished: outcome.flights.unfinished,
        queued_at_end: outcome.open.as_ref().map(|_| outcome.flights.queued_at_end),
        outages: outages(&outcome.outages),
        statements_per_s: Some(statement_rates(workload, total, seconds)),
        scripts: scripts(frame, total, seconds),
        statements: statements(workload, total),
        variance,
        host: frame.recorded.host.clone(),
        server: frame.recorded.server.clone(),
        client_cpu_us_per_txn: (committed > 0)
            .then(|| outcome.cpu.as_secs_f64() * 1e6 / to_f64(committed)),
        warnings: warnings.iter().map(ToString::to_string).collect(),
        complete: !outcome.interrupted
            && outcome.lost.len() < settings.clients as usize
            && match settings.length {
                Length::Duration(asked) => outcome.measured >= asked,
                Length::Transactions(_) => true,
            },
        unknown: Vec::new(),
    }
}

/// Empty where there is nothing to share out: one worker, or one for each client.
fn worker_shares(frame: &Frame<'_>, outcome: &Outcome) -> Vec<WorkerShare> {
    if frame.worker_per_client || outcome.workers.len() < 2 {
        return Vec::new();
    }
    let share = |part: &WorkerPart| WorkerShare {
        transactions: part.committed,
        busy: part
            .cpu
            .filter(|_| !part.watched.is_zero())
            .map(|cpu| cpu.as_secs_f64() / part.watched.as_secs_f64()),
    };
    outcome.workers.iter().map(share).collect()
}

/// What connecting took, the pool, and what waiting for it took.
fn acquiring(
    settings: &LevelSettings,
    total: &Tally,
) -> (Option<LatencyMs>, Option<u32>, Option<LatencyMs>) {
    let took = total.acquiring().map(latency_ms);
    match settings.sessions {
        Sessions::Kept => (None, None, None),
        Sessions::PerTransaction => (took, None, None),
        Sessions::Pooled(connections) => (None, Some(connections), took),
    }
}

fn outages(found: &[outages::Outage]) -> Vec<Outage> {
    let outage = |outage: &outages::Outage| Outage {
        start_s: outage.start.as_secs_f64(),
        length_s: outage.length.as_secs_f64(),
        clients: outage.clients,
    };
    found.iter().map(outage).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { to_f64(count) / seconds } else { 0.0 }
}

fn latency_ms(histogram: &Histogram) -> LatencyMs {
    histogram.summary().into()
}

fn failed(total: &Tally) -> Failed {
    let failures = total.failures();
    Failed {
        total: total.failed(),
        by_code: failures.iter().map(|failure| (failure.code.clone(), failure.count)).collect(),
        samples: failures
            .iter()
            .flat_map(|failure| {
                failure
                    .samples
                    .iter()
                    .map(|text| FailureSample { code: failure.code.clone(), text: text.clone() })
            })
            .take(10)
            .collect(),
    }
}

/// Whether anything was written, so that checkpoints have something to do.
fn writes(workload: &Workload, total: &Tally) -> bool {
    let statements = workload.statements.iter().zip(total.statements());
    statements
        .into_iter()
        .any(|(statement, tally)| statement.kind == StatementKind::Write && tally.count > 0)
}

/// Where and why the first transaction failed; empty when none did.
fn first_failure(workload: &Workload, total: &Tally) -> String {
    let failures = total.failures();
    let Some(first) = failures.first() else { return String::new() };
    let text = first.samples.first().map_or("", String::as_str);
    let why = format!("{text} ({})", first.code);
    let mut failed = workload.written().filter(|(index, _)| total.statements()[*index].failed > 0);
    match failed.next() {
        Some((_, statement)) => {
            let script = &workload.scripts[statement.script as usize].name;
            format!("\"{}\" (script {script}) met: {why}", statement.text)
        }
        None => why,
    }
}

/// Statements on rows that never found one. INSERT cannot fail to, nor can a sum.
fn nothing_matched(workload: &Workload, total: &Tally) -> Option<Warning> {
    let mut empty = workload.written().filter_map(|(index, statement)| {
        let tally = &total.statements()[index];
        let on_rows = matches!(statement.kind, StatementKind::Read | StatementKind::Write);
        (on_rows && tally.count > 0 && tally.rows == 0).then_some((statement, tally.count))
    });
    let (first, count) = empty.next()?;
    let statement = first.text.clone();
    Some(Warning::NothingMatched { statement, count, others: empty.count() })
}

fn statement_rates(workload: &Workload, total: &Tally, seconds: f64) -> StatementRates {
    let mut counts = [0_u64; 3];
    for (statement, tally) in workload.statements.iter().zip(total.statements()) {
        let class = match statement.kind {
            StatementKind::Read => 0,
            StatementKind::Write => 1,
            _ => 2,
        };
        counts[class] += tally.count * u64::from(statement.statements);
    }
    let [read, write, other] = counts.map(|count| rate(count, seconds));
    StatementRates { read, write, other, total: rate(counts.iter().sum(), seconds) }
}

fn scripts(frame: &Frame<'_>, total: &Tally, seconds: f64) -> Vec<Script> {
    let scripts = frame.workload.scripts.iter().zip(total.scripts()).zip(frame.script_files);
    scripts
        .map(|((script, tally), file)| Script {
            name: script.name.clone(),
            weight: script.weight,
            source: script.source.place(),
            file: file.clone(),
            sha256: script.source.sha256.clone(),
            transactions: tally.committed,
            tps: rate(tally.committed, seconds),
            failed: tally.failed,
            retried: tally.retried,
            retries: tally.retries,
            latency_ms: latency_ms(&tally.latency),
        })
        .collect()
}

fn statements(workload: &Workload, total: &Tally) -> Vec<Statement> {
    let mut numbers = vec![0; workload.scripts.len()];
    workload
        .written()
        .map(|(index, statement)| {
            let tally = &total.statements()[index];
            let number = &mut numbers[statement.script as usize];
            *number += 1;
            Statement {
                script: workload.scripts[statement.script as usize].name.clone(),
                n: *number,
                text: statement.text.clone(),
                count: tally.count,
                rows: tally.rows,
                failed: tally.failed,
                retries: tally.retries,
                latency_ms: tally.latency.as_deref().map(latency_ms).unwrap_or_default(),
            }
        })
        .collect()
}

/// Committed transactions of each interval, for the arithmetic.
fn interval_counts(outcome: &Outcome) -> Vec<IntervalCount> {
    let counts = outcome.intervals.iter().map(|(transactions, length)| IntervalCount {
        transactions: *transactions,
        length_s: length.as_secs_f64(),
    });
    counts.collect()
}

/// Growth of the backlog per second over the second half of the window, where it is more than the
/// clients could have taken at once and does not come from one stall that is over.
fn backlog_growth(backlog: &[(Duration, u64)], clients: u32) -> Option<f64> {
    let half = &backlog[backlog.len() / 2..];
    let (first, last) = (half.first()?, half.last()?);
    let seconds = (last.0.checked_sub(first.0)?).as_secs_f64();
    let growth = last.1.checked_sub(first.1)?;
    let grows = half.windows(2).filter(|pair| pair[1].1 >= pair[0].1).count();
    let sustained =
        seconds > 0.0 && growth > u64::from(clients) && 4 * grows >= 3 * (half.len() - 1);
    sustained.then(|| to_f64(growth) / seconds)
}

fn warnings(frame: &Frame<'_>, outcome: &Outcome, latency: &Histogram) -> Vec<Warning> {
    let mut warnings = frame.notes.to_vec();
    let settings = frame.settings;
    let committed = outcome.total.committed();
    if committed == 0 {
        let failed = outcome.total.failed();
        let why = match outcome.lost.first() {
            Some((_, why)) if failed == 0 => why.to_string(),
            _ => first_failure(frame.workload, &outcome.total),
        };
        warnings.push(Warning::NothingCommitted { failed, why });
    }
    warnings.extend(nothing_matched(frame.workload, &outcome.total));
    if let Some((_, why)) = outcome.lost.first() {
        warnings.push(Warning::ClientsLost {
            lost: u32::try_from(outcome.lost.len()).unwrap_or(u32::MAX),
            clients: settings.clients,
            why: why.to_string(),
        });
    }
    if outcome.reconnects > 0 {
        warnings.push(Warning::Reconnected { reconnects: outcome.reconnects });
    }
    if let Some(why) = &frame.recorded.refusal {
        warnings.push(Warning::NotMonitored { why: why.clone() });
    }
    if outcome.interrupted {
        warnings.push(Warning::Interrupted);
    }
    let busiest = outcome.workers.iter().filter_map(|part| part.busiest).max_by(f64::total_cmp);
    if let Some(busiest) = busiest.filter(|share| *share > BUSY)
        && !frame.worker_per_client
    {
        warnings.push(Warning::WorkerBusy {
            busy_pct: busiest * 100.0,
            workers: settings.workers.min(settings.clients),
        });
    }
    if let Some(open) = &outcome.open
        && let Some(growth_per_s) = backlog_growth(&open.backlog, settings.clients)
    {
        warnings.push(Warning::RateNotSustained {
            asked_per_s: settings.rate.map_or(0.0, |rate| rate.per_s),
            sustained_per_s: rate(committed, outcome.measured.as_secs_f64()),
            growth_per_s,
        });
    }
    if latency.saturated() > 0 {
        warnings.push(Warning::Saturated { count: latency.saturated() });
    }
    if !outcome.adds_up() {
        let flights = outcome.flights;
        warnings.push(Warning::Accounting {
            terms: format!(
                "{} in flight at the start + {} started, {} committed + {} failed + {} unfinished",
                flights.in_flight_at_start,
                flights.started,
                committed,
                outcome.total.failed(),
                flights.unfinished
            ),
        });
    }
    // One transaction a client is the rule at a window's end, and a long one is likelier to be cut
    // off than a short one; one twice as long as any that was counted hides the tail.
    let longest = outcome.flights.longest_unfinished;
    if latency.max_ns().is_some_and(|max| longest > 2 * Duration::from_nanos(max)) {
        warnings.push(Warning::Unfinished {
            unfinished: outcome.flights.unfinished,
            longest_s: longest.as_secs_f64(),
        });
    }
    warnings
}
