//! The recorder in virtual time: windows, intervals, failures.

use super::*;
use crate::engine::ErrorKind;
use crate::runner::tally::Shape;

const SECOND: Duration = Duration::from_secs(1);

fn recorder(warmup: Duration, length: Option<Duration>) -> (Recorder, Window) {
    let start = Instant::now() + warmup;
    let window = Window { start, end: length.map(|length| start + length), interval: SECOND };
    let recorder = Recorder::new(&Tally::new(Shape {
        scripts: 1,
        acquiring: false,
        statements: 1,
        open_loop: false,
        latency_limit: None,
    }));
    recorder.begin(window);
    (recorder, window)
}

fn commit(recorder: &Recorder, start: Instant) {
    let outcome = Outcome::Committed;
    recorder.finish(
        &Sample {
            client: ClientId(0),
            script: 0,
            intended: start,
            start,
            acquiring: None,
            outcome,
            retried_at: &[],
            statements: &[],
        },
        false,
    );
}

fn collected(recorder: &Recorder, index: u32) -> Vec<(u32, u64)> {
    let mut seen = Vec::new();
    recorder.collect(index, |interval, tally| seen.push((interval, tally.committed())));
    seen
}

#[tokio::test(start_paused = true)]
async fn a_transaction_counts_in_the_interval_where_it_ends() {
    let (recorder, _) = recorder(Duration::ZERO, None);
    let start = recorder.start().unwrap();
    tokio::time::advance(Duration::from_millis(1500)).await;
    commit(&recorder, start);
    assert_eq!(collected(&recorder, 2), [(1, 1)]);
}

#[tokio::test(start_paused = true)]
async fn what_ends_after_the_edge_waits_for_its_own_interval() {
    let (recorder, _) = recorder(Duration::ZERO, None);
    let start = recorder.start().unwrap();
    commit(&recorder, start);
    tokio::time::advance(Duration::from_millis(1001)).await;
    commit(&recorder, start);
    assert_eq!(collected(&recorder, 1), [(0, 1)]);
    assert_eq!(collected(&recorder, 2), [(1, 1)]);
}

#[tokio::test(start_paused = true)]
async fn the_warm_up_is_in_no_count_but_its_transactions_in_flight_are() {
    let (recorder, window) = recorder(SECOND, Some(SECOND));
    let early = recorder.start().unwrap();
    commit(&recorder, early);
    let across = recorder.start().unwrap();
    tokio::time::advance(Duration::from_millis(1200)).await;
    commit(&recorder, across);
    let late = recorder.start().unwrap();
    tokio::time::advance(SECOND).await;
    commit(&recorder, late);
    assert!(recorder.start().is_none(), "nothing starts after the deadline");
    assert_eq!(collected(&recorder, 2), [(0, 1)]);
    let expected = Flights {
        in_flight_at_start: 1,
        started: 1,
        unfinished: 1,
        longest_unfinished: SECOND,
        ..Flights::default()
    };
    assert_eq!(recorder.flights(), expected);
    assert_eq!(recorder.warmup_committed(), 1);
    assert!(recorder.last_end().unwrap() > window.start);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_counted_by_code_and_not_in_the_latency() {
    let (recorder, _) = recorder(Duration::ZERO, None);
    let start = recorder.start().unwrap();
    let error = DbError::new(ErrorKind::Deadlock, "40P01", "deadlock detected");
    let outcome = Outcome::Failed { error: &error, at: Some(StmtId(0)) };
    let retried_at = &[Some(StmtId(0)), None];
    recorder.finish(
        &Sample {
            client: ClientId(0),
            script: 0,
            intended: start,
            start,
            acquiring: None,
            outcome,
            retried_at,
            statements: &[],
        },
        false,
    );
    tokio::time::advance(SECOND).await;
    recorder.collect(1, |_, tally| {
        assert_eq!((tally.committed(), tally.failed()), (0, 1));
        assert_eq!(tally.latency().count(), 0);
        assert_eq!((tally.retried(), tally.retries()), (1, 2));
        assert_eq!(tally.failures()[0].code, "40P01");
        let statement = &tally.statements()[0];
        assert_eq!((statement.count, statement.failed, statement.retries), (0, 1, 1));
    });
}

#[tokio::test(start_paused = true)]
async fn tallies_come_back_empty_and_no_more_than_needed_are_made() {
    let (recorder, _) = recorder(Duration::ZERO, None);
    for second in 0..5 {
        let start = recorder.start().unwrap();
        commit(&recorder, start);
        tokio::time::advance(SECOND).await;
        assert_eq!(collected(&recorder, second + 1), [(second, 1)]);
    }
    assert_eq!(recorder.lock().spare.len(), 1);
}
