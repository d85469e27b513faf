//! Whole levels over the simulated database, in virtual time, with exact numbers.

mod scale;
mod sessions;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use tokio::sync::watch;

use super::arrivals::Rate;
use super::crew::{Launch, StartError};
use super::level::{Interval, Observer, Outcome, measure};
use super::seeds::Seeds;
use super::{Length, Level, LevelSettings, Sessions};
use crate::engine::sim::{Answer, Call, Sim};
use crate::engine::{DbError, ErrorKind};
use crate::plan::{Arrival, Protocol};
use crate::script::Dialect;
use crate::workload::source::{Origin, Source};
use crate::workload::{CompileOptions, Workload};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Remembers (index, transactions, unfinished, partial) of each interval, and the edges.
#[derive(Default)]
struct Seen(Vec<(u32, u64, u64, bool)>, Vec<Duration>);

impl Observer for Seen {
    fn started(&mut self, _connecting: Duration) {}
    fn warming(&mut self, _elapsed: Duration, _tps: f64) {}
    fn window(&mut self, _: std::time::SystemTime) {}
    fn edge(&mut self, elapsed: Duration) {
        self.1.push(elapsed);
    }
    fn interval(&mut self, interval: &Interval<'_>) {
        let committed = interval.tally.committed();
        self.0.push((interval.index, committed, interval.unfinished, interval.partial));
    }
}

pub(super) fn settings(clients: u32, length: Length) -> LevelSettings {
    LevelSettings {
        clients,
        workers: 1,
        length,
        ramp: Duration::ZERO,
        warmup: if length.transactions().is_some() { Duration::ZERO } else { SECOND },
        interval: SECOND,
        grace: 5 * SECOND,
        protocol: Protocol::Prepared,
        pipeline: false,
        sessions: Sessions::Kept,
        session_sql: Vec::new(),
        seeds: Seeds::Own(1),
        scale: 1,
        rate: None,
        latency_limit: None,
        max_tries: 1,
        ignore_errors: Vec::new(),
        continue_on_error: false,
        reconnect: true,
        exit_on_abort: false,
        log: false,
        on_error: None,
        debug: |_| {},
    }
}

pub(super) fn workload(script: &str) -> Arc<Workload> {
    let source = Source::new("test", script, Origin::Stdin);
    let options = CompileOptions { dialect: Dialect::Postgres, ..CompileOptions::default() };
    Arc::new(Workload::compile("test", vec![(source, 1)], &options).unwrap())
}

fn in_virtual_time<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build_local(tokio::runtime::LocalOptions::default())
        .unwrap()
        .block_on(future)
}

/// Runs a level of the one-statement script `SELECT 1` in virtual time.
fn run(
    settings: LevelSettings,
    script: &str,
    answer: impl Fn(Call) -> Answer + Send + Sync + 'static,
) -> (Outcome, Vec<(u32, u64, u64, bool)>) {
    in_virtual_time(async {
        let mut seen = Seen::default();
        let (_interrupt, never) = watch::channel(false);
        let level = Level::new(workload(script), settings);
        let outcome = measure(&Sim::new(answer), level, Launch::Here, never, &mut seen).await;
        (outcome.unwrap(), seen.0)
    })
}

fn takes(takes: Duration) -> Answer {
    Answer { takes, result: Ok(1) }
}

fn fails(kind: ErrorKind, code: &str) -> Answer {
    Answer { takes: 2 * MS, result: Err(DbError::new(kind, code, "planned")) }
}

#[test]
fn a_steady_database_gives_exact_counts() {
    let (outcome, seen) =
        run(settings(2, Length::Duration(10 * SECOND)), "SELECT 1;", |_| takes(10 * MS));
    // Two clients, 100 transactions a second each; one of each runs over either edge.
    assert_eq!(outcome.total.committed(), 2000);
    assert_eq!(outcome.measured, 10 * SECOND);
    assert_eq!(outcome.flights.in_flight_at_start, 2);
    assert_eq!(outcome.flights.unfinished, 2);
    assert!(outcome.adds_up());
    let expected: Vec<_> =
        (0..10).map(|index| (index, 200, if index == 9 { 2 } else { 0 }, false)).collect();
    assert_eq!(seen, expected);
    let p50_ms = outcome.total.latency().summary().p50.unwrap();
    assert!((p50_ms - 10.0).abs() < 0.02, "{p50_ms}");
}

#[test]
fn a_stall_is_rows_of_zero() {
    let (outcome, seen) = run(settings(3, Length::Duration(8 * SECOND)), "SELECT 1;", |call| {
        // From 3.5 s to 6.5 s after the start nothing is answered.
        let stalled = (3500..6500).contains(&call.at.as_millis());
        takes(if stalled { Duration::from_millis(6500) - call.at } else { 10 * MS })
    });
    let counts: Vec<_> = seen.iter().map(|row| row.1).collect();
    assert_eq!(counts.iter().sum::<u64>(), outcome.total.committed());
    assert_eq!(counts[3..5], [0, 0]);
    assert!(counts[2] < 200 && counts[5] < 200, "{counts:?}");
    assert!(outcome.adds_up());
}

#[test]
fn a_rate_without_an_arrival_near_the_end_does_not_end_the_window() {
    let mut settings = settings(2, Length::Duration(Duration::from_millis(2300)));
    settings.rate = open(2.0, Arrival::Constant);
    let (outcome, seen) = run(settings, "SELECT 1;", |_| takes(10 * MS));
    // In the window at 0 (of the second after the start), 0.5, 1, 1.5 and 2 s.
    assert_eq!((outcome.total.committed(), outcome.flights.unfinished), (5, 0));
    assert_eq!(outcome.measured, Duration::from_millis(2300));
    assert!(outcome.adds_up() && outcome.lost.is_empty());
    assert_eq!(seen.len(), 3);
}

#[test]
fn counted_transactions_are_made_exactly() {
    let (outcome, _) = run(settings(8, Length::Transactions(1000)), "SELECT 1;", |_| takes(3 * MS));
    assert_eq!(outcome.total.committed(), 8000);
    assert_eq!((outcome.flights.in_flight_at_start, outcome.flights.unfinished), (0, 0));
    assert!(outcome.adds_up());
    assert_eq!(outcome.measured, 3 * SECOND);
}

#[test]
fn the_last_interval_may_be_partial() {
    let (_, seen) = run(settings(1, Length::Duration(2500 * MS)), "SELECT 1;", |_| takes(10 * MS));
    let last = seen.last().unwrap();
    assert_eq!((seen.len(), last.1, last.3), (3, 50, true));
}

#[test]
fn the_edges_are_those_of_the_window_whatever_still_runs_after_it() {
    let edges = in_virtual_time(async {
        let mut seen = Seen::default();
        let (_interrupt, never) = watch::channel(false);
        let settings = settings(2, Length::Duration(2 * SECOND + 500 * MS));
        let level = Level::new(workload("SELECT 1;"), settings);
        let sim = Sim::new(|_| takes(700 * MS));
        measure(&sim, level, Launch::Here, never, &mut seen).await.unwrap();
        seen.1
    });
    // An interval is taken 2 ms after its end, the window's end at once.
    assert_eq!(edges, [0, 1002, 2002, 2500].map(Duration::from_millis));
}

#[test]
fn a_client_that_meets_another_error_is_lost_and_the_rest_go_on() {
    let (outcome, _) = run(settings(2, Length::Duration(2 * SECOND)), "SELECT 1;", |call| {
        if call.conn == 1 && call.at > 1500 * MS {
            fails(ErrorKind::Other, "22012")
        } else {
            takes(10 * MS)
        }
    });
    assert_eq!(outcome.lost.len(), 1);
    assert_eq!(outcome.total.failed(), 1);
    assert!(outcome.total.committed() > 200);
    assert!(outcome.adds_up());
}

#[test]
fn when_no_client_is_left_the_level_ends() {
    let (outcome, seen) = run(settings(2, Length::Duration(60 * SECOND)), "SELECT 1;", |call| {
        if call.at > 3 * SECOND { fails(ErrorKind::Other, "22012") } else { takes(10 * MS) }
    });
    assert_eq!(outcome.lost.len(), 2);
    assert!(outcome.measured < 2100 * MS, "{:?}", outcome.measured);
    assert_eq!((seen.len(), seen[2].3), (3, true));
}

#[test]
fn a_deadlock_is_tried_again_and_counted_once() {
    let mut settings = settings(1, Length::Transactions(100));
    settings.max_tries = 3;
    let (outcome, _) = run(settings, "BEGIN; SELECT 1; END;", |call| {
        // Every tenth call is the SELECT of some try: it meets a deadlock.
        if call.stmt.0 == 1 && call.number % 10 == 1 {
            fails(ErrorKind::Deadlock, "40P01")
        } else {
            takes(MS)
        }
    });
    assert_eq!(outcome.total.committed() + outcome.total.failed(), 100);
    assert!(outcome.total.retries() > 0);
    assert_eq!(outcome.total.retries(), outcome.total.retried());
    assert_eq!(outcome.total.failed(), 0);
    assert!(outcome.lost.is_empty());
    let retries: Vec<u64> = outcome.total.statements().iter().map(|s| s.retries).collect();
    assert_eq!(retries, [0, outcome.total.retries(), 0], "at the statement that met them");
}

#[test]
fn a_failure_is_counted_at_the_statement_that_met_it() {
    let mut settings = settings(2, Length::Transactions(50));
    settings.max_tries = 2;
    settings.continue_on_error = true;
    let (outcome, _) = run(settings, "SELECT 1; SELECT 2; SELECT 3;", |call| {
        if call.stmt.0 == 2 { fails(ErrorKind::Serialization, "40001") } else { takes(MS) }
    });
    let at: Vec<_> = outcome.total.statements().iter().map(|s| (s.failed, s.retries)).collect();
    assert_eq!(at, [(0, 0), (0, 0), (100, 100)]);
    let script = &outcome.total.scripts()[0];
    assert_eq!((script.failed, script.retried, script.retries), (100, 100, 100));
    assert_eq!(outcome.total.statements()[0].count, 0, "of committed transactions only");
}

#[test]
fn a_failure_among_successes_costs_no_pause() {
    let mut settings = settings(1, Length::Transactions(100));
    settings.continue_on_error = true;
    let last = Arc::new(Mutex::new((0_u32, Duration::ZERO)));
    let seen = Arc::clone(&last);
    let (outcome, _) = run(settings, "SELECT 1;", move |call| {
        let mut seen = seen.lock().unwrap();
        *seen = (seen.0 + 1, call.at);
        if seen.0.is_multiple_of(2) { fails(ErrorKind::Other, "22012") } else { takes(MS) }
    });
    assert_eq!((outcome.total.committed(), outcome.total.failed()), (50, 50));
    let (calls, at) = *last.lock().unwrap();
    assert!(calls == 100 && at <= 151 * MS, "{calls} calls in {at:?}");
}

#[test]
fn a_lost_connection_is_made_again() {
    let (outcome, _) = run(settings(2, Length::Duration(3 * SECOND)), "SELECT 1;", |call| {
        let cut = call.conn < 2 && call.at > 2 * SECOND;
        if cut { fails(ErrorKind::Lost, "57P01") } else { takes(10 * MS) }
    });
    assert_eq!(outcome.reconnects, 2);
    let [outage] = outcome.outages[..] else { panic!("{:?}", outcome.outages) };
    assert_eq!((outage.clients, outage.length), (2, 10 * MS), "one pause of the back-off");
    assert_eq!(outcome.total.failed(), 2);
    assert!(outcome.lost.is_empty());
    assert!(outcome.total.committed() > 550);
    assert!(outcome.adds_up());
}

#[test]
fn a_block_left_open_ends_the_client() {
    let (outcome, _) = run(settings(1, Length::Transactions(5)), "BEGIN; SELECT 1;", |_| takes(MS));
    assert_eq!(outcome.lost.len(), 1);
    assert!(outcome.lost[0].1.to_string().contains("inside a transaction block"));
}

#[test]
fn what_outlives_the_grace_period_is_unfinished() {
    let mut settings = settings(2, Length::Duration(3 * SECOND));
    settings.grace = SECOND;
    let (outcome, seen) = run(settings, "SELECT 1;", |call| {
        takes(if call.conn == 0 && call.at > 2 * SECOND { 3600 * SECOND } else { 10 * MS })
    });
    assert_eq!(outcome.flights.unfinished, 2);
    assert!(outcome.lost.is_empty(), "the one that hung was abandoned, not lost");
    assert!(outcome.adds_up());
    assert_eq!(seen.len(), 3);
}

#[test]
fn an_interrupt_ends_the_window_and_keeps_what_was_measured() {
    in_virtual_time(async {
        let (interrupt, interrupted) = watch::channel(false);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(3500 * MS).await;
            interrupt.send_replace(true);
            std::future::pending::<()>().await;
        });
        let mut seen = Seen::default();
        let settings = settings(2, Length::Duration(60 * SECOND));
        let level = Level::new(workload("SELECT 1;"), settings);
        let sim = Sim::new(|_| takes(10 * MS));
        let outcome = measure(&sim, level, Launch::Here, interrupted, &mut seen).await.unwrap();
        assert!(outcome.interrupted);
        let shown: u64 = seen.0.iter().map(|row| row.1).sum();
        assert_eq!(shown, outcome.total.committed());
        assert_eq!(seen.0.len(), 3);
        assert!(seen.0[2].3);
        assert!(outcome.adds_up());
    });
}

#[test]
fn an_interrupt_before_the_window_measures_nothing() {
    in_virtual_time(async {
        let (_interrupt, never) = watch::channel(true);
        let level = Level::new(workload("SELECT 1;"), settings(2, Length::Duration(SECOND)));
        let sim = Sim::new(|_| takes(MS));
        let refused = measure(&sim, level, Launch::Here, never, &mut Seen::default()).await;
        assert!(matches!(refused, Err(StartError::Interrupted)));
    });
}

#[test]
fn a_clients_values_do_not_depend_on_the_number_of_workers() {
    let drawn = |workers| {
        let mut settings = settings(4, Length::Transactions(20));
        settings.workers = workers;
        let script = "\\set a random(1, 1000000)\n\\if :a > 500000\nSELECT 1;\n\\endif\nSELECT 2;";
        let (outcome, _) = run(settings, script, |_| takes(MS));
        outcome.total.statements().iter().map(|statement| statement.count).collect::<Vec<_>>()
    };
    assert_eq!(drawn(1), drawn(3));
}

fn open(per_s: f64, arrival: Arrival) -> Option<Rate> {
    Some(Rate { per_s, arrival, seed: 3 })
}

#[test]
fn a_stall_is_in_the_response_time_of_an_open_loop_and_not_in_its_service_time() {
    let mut settings = settings(1, Length::Duration(60 * SECOND));
    settings.rate = open(100.0, Arrival::Constant);
    // One of two seconds, 20 s into the window; all else takes a millisecond.
    let (outcome, _) = run(settings, "SELECT 1;", |call| {
        let stalled = (21_000..23_000).contains(&call.at.as_millis());
        takes(if stalled { 23 * SECOND - call.at } else { MS })
    });
    let response = outcome.total.open().unwrap().response.summary();
    let service = outcome.total.latency().summary();
    let near = |value: Option<f64>, expected: f64| {
        let value = value.unwrap();
        assert!((value / expected - 1.0).abs() < 0.01, "{value}, not {expected}");
    };
    near(response.p99, 1461.0);
    near(response.p99_9, 1947.0);
    near(service.p99, 1.0);
    assert_eq!(outcome.open.as_ref().unwrap().scheduled, 6000);
    assert!(outcome.adds_up(), "{outcome:?}");
}

#[test]
fn arrivals_that_are_too_late_are_skipped_and_counted() {
    let mut settings = settings(1, Length::Duration(10 * SECOND));
    settings.rate = open(200.0, Arrival::Constant);
    settings.latency_limit = Some(50 * MS);
    let (outcome, _) = run(settings, "SELECT 1;", |_| takes(10 * MS));
    assert!((990..=1001).contains(&outcome.total.committed()), "{outcome:?}");
    assert!((990..=1010).contains(&outcome.total.skipped), "{outcome:?}");
    assert!(outcome.total.late().unwrap() > 900);
    assert!(outcome.adds_up(), "{outcome:?}");
}

#[test]
fn an_overload_leaves_a_backlog_that_grows() {
    let mut settings = settings(2, Length::Duration(10 * SECOND));
    settings.rate = open(300.0, Arrival::Poisson);
    let (outcome, _) = run(settings, "SELECT 1;", |_| takes(10 * MS));
    let open = outcome.open.as_ref().unwrap();
    let last = open.backlog.last().unwrap();
    // 300 arrive and 200 are served a second, from the warm-up on.
    assert!((900..1300).contains(&last.1), "{last:?}");
    assert!((900..1300).contains(&outcome.flights.queued_at_end));
    assert!(outcome.adds_up(), "{outcome:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_terms_add_up_whatever_happens(
        clients in 1_u32..6,
        seed in any::<u64>(),
        length_ms in 1_u32..4000,
        max_tries in 0_u32..4,
        continue_on_error in any::<bool>(),
        per_s in proptest::option::of(1.0_f64..1000.0),
        limit_ms in proptest::option::of(1_u32..500),
    ) {
        let mut settings = settings(clients, Length::Duration(MS * length_ms));
        settings.max_tries = max_tries;
        settings.continue_on_error = continue_on_error;
        settings.grace = 100 * MS;
        settings.rate = per_s.and_then(|per_s| open(per_s, Arrival::Poisson));
        settings.latency_limit = limit_ms.map(|limit| MS * limit);
        let (outcome, seen) = run(settings, "BEGIN; SELECT 1; END;", move |call| {
            let draw = crate::rng::stream_seed(
                seed ^ call.number,
                call.conn,
                crate::rng::Purpose::Script,
            ) % 1000;
            match draw {
                0..20 => fails(ErrorKind::Deadlock, "40P01"),
                20..25 => fails(ErrorKind::Lost, "57P01"),
                25..27 => fails(ErrorKind::Other, "22012"),
                27..29 => takes(3600 * SECOND),
                _ => takes(MS * u32::try_from(draw % 17).unwrap()),
            }
        });
        prop_assert!(outcome.adds_up(), "{outcome:?}");
        let shown: u64 = seen.iter().map(|row| row.1).sum();
        prop_assert_eq!(shown, outcome.total.committed());
        let unfinished: u64 = seen.iter().map(|row| row.2).sum();
        prop_assert!(seen.is_empty() || unfinished == outcome.flights.unfinished);
    }
}
