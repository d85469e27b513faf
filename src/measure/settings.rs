//! From a plan to the settings of one level.

use std::time::Duration;

use crate::plan::{Arrival, DEFAULT_DURATION, Protocol, RunPlan};
use crate::rng::{PgbenchSeeds, Purpose, stream_seed};
use crate::runner::arrivals::Rate;
use crate::runner::seeds::Seeds;
use crate::runner::{Length, LevelSettings, Sessions};
use crate::script::expr::DebugLine;

/// The settings of one level.
pub(super) fn level(
    plan: &RunPlan,
    protocol: Protocol,
    clients: u32,
    show_errors: bool,
    log: bool,
) -> LevelSettings {
    let length = match (plan.transactions, plan.duration) {
        (Some(transactions), _) => Length::Transactions(transactions),
        (None, duration) => Length::Duration(duration.map_or(DEFAULT_DURATION, |span| span.0)),
    };
    let seeds = if plan.pgbench_sequence {
        Seeds::Pgbench { seed: plan.seed, drawn: pgbench_seeds(plan, clients) }
    } else {
        Seeds::Own(plan.seed)
    };
    LevelSettings {
        clients,
        workers: plan.workers,
        length,
        ramp: plan.ramp.map_or(Duration::ZERO, |ramp| ramp.0),
        warmup: plan.warmup.0,
        interval: plan.interval.0,
        grace: plan.grace.0,
        protocol,
        pipeline: plan.pipeline,
        sessions: match (plan.pool, plan.connect) {
            (Some(connections), _) => Sessions::Pooled(connections),
            (None, true) => Sessions::PerTransaction,
            (None, false) => Sessions::Kept,
        },
        session_sql: plan.session_sql.clone(),
        seeds,
        rate: plan.rate_per_s.map(|per_s| Rate {
            per_s,
            arrival: plan.arrival.unwrap_or(Arrival::Poisson),
            seed: stream_seed(plan.seed, u32::MAX, Purpose::Throttle),
        }),
        latency_limit: plan.latency_limit.map(|limit| limit.0),
        scale: plan.scale.and_then(|scale| i64::try_from(scale).ok()).unwrap_or(1),
        max_tries: plan.max_tries,
        ignore_errors: plan.ignore_errors.clone(),
        continue_on_error: plan.continue_on_error,
        reconnect: plan.reconnect,
        exit_on_abort: plan.exit_on_abort,
        log,
        on_error: show_errors.then_some(print_error as fn(&str)),
        debug: print_debug,
    }
}

/// Where errors go that the user wants to see one by one.
#[expect(clippy::print_stderr, reason = "talk, from any worker's thread")]
fn print_error(line: &str) {
    eprintln!("{line}");
}

/// Where `debug(...)` of a script goes.
#[expect(clippy::print_stderr, reason = "a script's own output, from any worker's thread")]
fn print_debug(line: DebugLine) {
    eprintln!("{line}");
}

fn pgbench_seeds(plan: &RunPlan, clients: u32) -> PgbenchSeeds {
    let defined = plan.defines.iter().rev().find(|(name, _)| name == "default_seed");
    match defined.and_then(|(_, value)| value.parse().ok()) {
        Some(default_seed) => {
            PgbenchSeeds::with_default_seed(plan.seed, clients as usize, default_seed)
        }
        None => PgbenchSeeds::new(plan.seed, clients as usize),
    }
}
