//! The client loop makes no heap allocation per transaction: counted, not believed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::watch;

use super::crew::Launch;
use super::level::{Interval, Observer, measure};
use super::tests::{settings, workload};
use super::{Length, Level};
use crate::engine::sim::{Answer, Call, Sim};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // Unavailable only while the thread ends.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

#[expect(unsafe_code, reason = "the trait is unsafe; every call goes to the system allocator")]
// SAFETY: forwards to `System` unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Nobody;

impl Observer for Nobody {
    fn started(&mut self, _connecting: Duration) {}
    fn warming(&mut self, _elapsed: Duration, _tps: f64) {}
    fn window(&mut self, _: std::time::SystemTime) {}
    fn edge(&mut self, _: Duration) {}
    fn interval(&mut self, _interval: &Interval<'_>) {}
}

/// Allocations of the client's thread between the statements number `from` and `to`.
fn allocations(script: &str, from: u64, to: u64) -> u64 {
    static COUNTS: Mutex<(u64, u64)> = Mutex::new((0, 0));
    let sim = Sim::new(move |call: Call| {
        let so_far = ALLOCATIONS.with(Cell::get);
        if call.number == from {
            COUNTS.lock().unwrap().0 = so_far;
        }
        if call.number == to {
            COUNTS.lock().unwrap().1 = so_far;
        }
        Answer { takes: Duration::ZERO, result: Ok(1) }
    });
    let mut settings = settings(1, Length::Transactions(30_000));
    settings.interval = Duration::from_secs(3600);
    let level = Level::new(workload(script), settings);
    let (_interrupt, never) = watch::channel(false);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .unwrap();
    let outcome = runtime
        .block_on(measure(&sim, level, Launch::Threads, never, &mut Nobody))
        .unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(outcome.total.committed(), 30_000);
    let counts = COUNTS.lock().unwrap();
    counts.1 - counts.0
}

#[test]
fn a_transaction_allocates_nothing_after_the_warm_up() {
    let script = "\\set aid random(1, 100000 * :scale)\n\\set delta random_gaussian(1, 100, 2.5)\n\
                  BEGIN;\nUPDATE a SET b = b + :delta WHERE aid = :aid;\nSELECT b FROM a WHERE aid \
                  = :aid;\nEND;\n";
    assert_eq!(allocations(script, 1_000, 81_000), 0);
}
