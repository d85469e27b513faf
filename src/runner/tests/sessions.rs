//! How clients come by their sessions, in virtual time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;

use super::{MS, SECOND, Seen, fails, in_virtual_time, open, run, settings, takes, workload};
use crate::engine::ErrorKind;
use crate::engine::sim::{Answer, Call, SET_UP, Sim};
use crate::plan::Arrival;
use crate::runner::crew::{Launch, StartError};
use crate::runner::level::{Outcome, measure};
use crate::runner::{Length, Level, LevelSettings, Sessions};
use crate::stats::histogram::Histogram;

/// Runs a level with a connection for every transaction.
fn run_connecting(
    settings: LevelSettings,
    connect: fn(Call) -> Answer,
    answer: impl Fn(Call) -> Answer + Send + Sync + 'static,
) -> Outcome {
    in_virtual_time(async {
        let (_interrupt, never) = watch::channel(false);
        let settings = LevelSettings { sessions: Sessions::PerTransaction, ..settings };
        let level = Level::new(workload("SELECT 1;"), settings);
        let sim = Sim::connecting(connect, answer);
        measure(&sim, level, Launch::Here, never, &mut Seen::default()).await.unwrap()
    })
}

#[test]
fn connecting_is_part_of_the_latency_and_told_apart() {
    let settings = settings(2, Length::Duration(10 * SECOND));
    let outcome = run_connecting(settings, |_| takes(5 * MS), |_| takes(10 * MS));
    // Each client ends one at every multiple of 15 ms: from the 67th to the 733rd in the window.
    assert_eq!(outcome.total.committed(), 2 * 667);
    assert!(outcome.adds_up());
    let p50 = |histogram: &Histogram| histogram.summary().p50.unwrap().round();
    assert_eq!(p50(&outcome.total.latency()), 15.0);
    assert_eq!(p50(outcome.total.acquiring().unwrap()), 5.0);
    assert_eq!(p50(outcome.total.statements()[0].latency.as_ref().unwrap()), 10.0);
}

#[test]
fn connecting_is_within_the_service_time_of_an_open_loop() {
    let mut settings = settings(4, Length::Duration(10 * SECOND));
    settings.rate = open(50.0, Arrival::Constant);
    let outcome = run_connecting(settings, |_| takes(5 * MS), |_| takes(10 * MS));
    assert_eq!(outcome.total.committed(), 500);
    let open = outcome.total.open().unwrap();
    let p99 = |histogram: &Histogram| histogram.summary().p99.unwrap().round();
    assert_eq!((p99(&outcome.total.latency()), p99(&open.response)), (15.0, 15.0));
    assert!(outcome.adds_up());
}

#[test]
fn a_refused_connection_is_a_failed_transaction_and_the_client_tries_again() {
    let refuse = |call: Call| {
        // From 2 s to 3 s nobody gets in.
        match (2..3).contains(&call.at.as_secs()) {
            true => fails(ErrorKind::Connect, "53300"),
            false => takes(5 * MS),
        }
    };
    let settings = settings(2, Length::Duration(5 * SECOND));
    let outcome = run_connecting(settings, refuse, |_| takes(10 * MS));
    let failures = outcome.total.failures();
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].code.as_str(), outcome.lost.len()), ("53300", 0));
    // Pauses of 10, 50, 200, 500 and 1000 ms, after 2 ms each.
    assert_eq!(failures[0].count, 10);
    let [outage] = outcome.outages[..] else { panic!("{:?}", outcome.outages) };
    assert_eq!((outage.clients, outcome.reconnects), (2, 2));
    assert!(outcome.adds_up() && outcome.total.committed() > 100);
}

#[test]
fn clients_join_evenly_over_the_ramp_and_the_window_comes_after_it() {
    let mut settings = settings(4, Length::Duration(3 * SECOND));
    settings.ramp = 8 * SECOND;
    let began: Arc<Mutex<Vec<Option<Duration>>>> = Arc::new(Mutex::new(vec![None; 4]));
    let seen = Arc::clone(&began);
    let (outcome, intervals) = run(settings, "SELECT 1;", move |call| {
        seen.lock().unwrap()[call.conn as usize].get_or_insert(call.at);
        takes(10 * MS)
    });
    assert_eq!(*began.lock().unwrap(), [0, 2, 4, 6].map(|s| Some(Duration::from_secs(s))));
    // A second of warm-up comes between; then all four do 100 a second.
    assert_eq!(outcome.measured, 3 * SECOND);
    assert_eq!(intervals.iter().map(|row| row.1).collect::<Vec<_>>(), [400, 400, 400]);
    assert!(outcome.adds_up());
}

#[test]
fn an_interrupt_in_the_ramp_ends_at_once() {
    in_virtual_time(async {
        let (interrupt, interrupted) = watch::channel(false);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(SECOND).await;
            interrupt.send_replace(true);
            std::future::pending::<()>().await;
        });
        let mut settings = settings(100, Length::Duration(SECOND));
        settings.ramp = 3600 * SECOND;
        let level = Level::new(workload("SELECT 1;"), settings);
        let sim = Sim::new(|_| takes(10 * MS));
        let begin = tokio::time::Instant::now();
        let seen = &mut Seen::default();
        let outcome = measure(&sim, level, Launch::Here, interrupted, seen).await.unwrap();
        assert!(outcome.interrupted && outcome.lost.is_empty());
        assert!(begin.elapsed() < 2 * SECOND, "{:?}", begin.elapsed());
    });
}

#[test]
fn session_sql_runs_on_every_connection_and_its_refusal_after_a_loss_ends_the_client() {
    let mut settings = settings(2, Length::Duration(3 * SECOND));
    settings.session_sql = vec!["SET a = 1".to_owned()];
    let set_up = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&set_up);
    let (outcome, _) = run(settings, "SELECT 1;", move |call| {
        if call.stmt == SET_UP {
            seen.fetch_add(1, Ordering::Relaxed);
            // The third connection is made again, the fourth as well, and is refused.
            return if call.conn == 3 { fails(ErrorKind::Other, "42704") } else { takes(MS) };
        }
        let cut = call.conn < 2 && call.at > 2 * SECOND;
        if cut { fails(ErrorKind::Lost, "57P01") } else { takes(10 * MS) }
    });
    assert_eq!(set_up.load(Ordering::Relaxed), 4);
    assert_eq!((outcome.reconnects, outcome.lost.len()), (1, 1));
    assert_eq!(outcome.lost[0].1.to_string(), "--session-sql \"SET a = 1\": planned (42704)");
}

#[test]
fn session_sql_that_is_refused_at_the_start_measures_nothing() {
    in_virtual_time(async {
        let (_interrupt, never) = watch::channel(false);
        let mut settings = settings(2, Length::Duration(SECOND));
        settings.session_sql = vec!["SET a = 1".to_owned()];
        let level = Level::new(workload("SELECT 1;"), settings);
        let sim = Sim::new(|_| fails(ErrorKind::Other, "42704"));
        let refused = measure(&sim, level, Launch::Here, never, &mut Seen::default()).await;
        let Err(StartError::Client(error)) = refused else { panic!("{refused:?}") };
        assert_eq!(error.to_string(), "--session-sql \"SET a = 1\": planned (42704)");
    });
}
