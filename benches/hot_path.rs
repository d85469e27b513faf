//! What dbload's own bookkeeping costs: nanoseconds for recording one transaction with everything
//! that is always on (interval, service histogram, a histogram for each statement; with a rate
//! those of response and lag), one reading of the clock and the recorder's lock included. It is CPU
//! time of the thread, so that what else runs on the machine counts less.
//!
//!     cargo bench --bench hot_path

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use dbload::Recording;
use rustix::time::{ClockId, clock_gettime};

/// The limit that recording is held to, where the machine is quiet.
const LIMIT_NS: f64 = 150.0;
const BATCHES: usize = 15;
const BATCH: u32 = 200_000;

fn main() {
    println!("recording one transaction, median of {BATCHES} batches of {BATCH} (lowest):\n");
    let bare = show("0 statements, closed loop", 0, false);
    let one = show("1 statement, closed loop (select-only)", 1, false);
    let seven = show("7 statements, closed loop (tpcb-like)", 7, false);
    show("1 statement, open loop", 1, true);
    println!("\neach further statement: {:.1} ns", (seven - bare) / 7.0);
    let verdict = if one <= LIMIT_NS { "within" } else { "over" };
    println!("a transaction of one statement is {verdict} the limit of {LIMIT_NS} ns");
}

fn show(name: &str, statements: u32, open_loop: bool) -> f64 {
    let mut recording = Recording::new(statements, open_loop);
    let mut batches: Vec<f64> = (0..BATCHES).map(|_| batch(&mut recording)).collect();
    batches.sort_by(f64::total_cmp);
    let median = batches[BATCHES / 2];
    println!("{name:<40} {median:>7.1} ns ({:.1})", batches[0]);
    median
}

/// Nanoseconds for a transaction, of latencies from 50 µs to 1 ms in no order.
fn batch(recording: &mut Recording) -> f64 {
    let begin_ns = cpu_ns();
    let mut random = 1_u64;
    for _ in 0..BATCH {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        recording.record(50_000 + (random >> 44));
    }
    let ns = cpu_ns() - begin_ns;
    recording.collect();
    #[expect(clippy::cast_precision_loss, reason = "some milliseconds")]
    let ns = ns as f64;
    ns / f64::from(BATCH)
}

/// CPU time of this thread.
fn cpu_ns() -> i64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
