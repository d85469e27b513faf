//! What a worker counts, interval by interval.
//!
//! The worker's clients record under a lock that nobody else wants but the conductor, once per
//! interval. A transaction's end is read from the clock *inside* that lock: whatever is recorded
//! after the conductor has looked ended after it looked. So a finished interval never changes any
//! more, and nothing waits for a silent or blocked worker.
//!
//! The identity of every run, each term counted on its own and checked at the end:
//! `in_flight_at_start + started = committed + failed + unfinished`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::ClientId;
use super::log::Entry;
use super::outages::{self, Disconnected};
use super::tally::{Tally, nanoseconds};
use crate::engine::DbError;
use crate::script::program::StmtId;
use crate::stats::histogram::Histogram;

/// How a transaction ended.
#[derive(Debug)]
pub(crate) enum Outcome<'a> {
    /// All steps of the script ran.
    Committed,
    /// It failed for good, with the error of its last try.
    Failed {
        /// The error.
        error: &'a DbError,
        /// The statement that met it; nothing for an error of a meta command or of a pipeline.
        at: Option<StmtId>,
    },
}

/// One execution of a statement within a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatementSample {
    pub(crate) stmt: StmtId,
    /// From sending it to the end of its reply.
    pub(crate) service_ns: u64,
    /// Rows returned or changed.
    pub(crate) rows: u64,
}

/// One transaction, about to end.
#[derive(Debug)]
pub(crate) struct Sample<'a> {
    pub(crate) client: ClientId,
    pub(crate) script: usize,
    /// When it was to start; in a closed loop its start.
    pub(crate) intended: Instant,
    /// Start of the first try.
    pub(crate) start: Instant,
    /// Of that time, what it took to come by a session; nothing where the client keeps its own.
    pub(crate) acquiring: Option<Duration>,
    pub(crate) outcome: Outcome<'a>,
    /// What was tried again before the last try, in order: the statement at which each of the
    /// earlier tries failed, where it was at one.
    pub(crate) retried_at: &'a [Option<StmtId>],
    /// The statements of the last try.
    pub(crate) statements: &'a [StatementSample],
}

/// The measured window of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// End of the warm-up: interval 0 starts here.
    pub(crate) start: Instant,
    /// Nothing starts after it; not known beforehand when transactions are counted.
    pub(crate) end: Option<Instant>,
    pub(crate) interval: Duration,
}

impl Window {
    /// Start of interval `index`.
    pub(crate) fn edge(&self, index: u32) -> Instant {
        self.start + self.interval * index
    }
}

/// Terms of the identity that belong to the run, not to an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flights {
    /// Started before the window and not ended before it.
    pub(crate) in_flight_at_start: u64,
    /// Started in the window.
    pub(crate) started: u64,
    /// Of those two, neither committed nor failed within the window.
    pub(crate) unfinished: u64,
    /// The longest that one of those had been running when it ended or was given up.
    pub(crate) longest_unfinished: Duration,
    /// Open loop: arrivals due before the window that nobody had taken up by then.
    pub(crate) queued_at_start: u64,
    /// Open loop: arrivals due within or before the window that nobody took up within it.
    pub(crate) queued_at_end: u64,
}

impl Flights {
    fn cut_off(&mut self, running: Duration) {
        self.unfinished += 1;
        self.longest_unfinished = self.longest_unfinished.max(running);
    }

    /// Adds another worker's.
    pub(crate) fn add(&mut self, other: &Self) {
        self.in_flight_at_start += other.in_flight_at_start;
        self.started += other.started;
        self.unfinished += other.unfinished;
        self.longest_unfinished = self.longest_unfinished.max(other.longest_unfinished);
        self.queued_at_start += other.queued_at_start;
        self.queued_at_end += other.queued_at_end;
    }
}

/// The counters of one worker.
#[derive(Debug)]
pub(crate) struct Recorder {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    window: Option<Window>,
    /// Index of the interval that `current` counts.
    index: u32,
    current: Tally,
    /// Intervals that have ended and hold something, waiting for the conductor.
    finished: Vec<(u32, Tally)>,
    /// Empty tallies that came back.
    spare: Vec<Tally>,
    flights: Flights,
    /// Committed during the warm-up, for the live line only.
    warmup_committed: u64,
    last_end: Option<Instant>,
    reconnects: u64,
    disconnected: Vec<Disconnected>,
    /// Open loop: how late idle clients woke up.
    wake: Option<Box<Histogram>>,
    /// Every measured transaction, where a log of them is written.
    log: Option<Vec<Entry>>,
}

/// What becomes of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takeup {
    /// It starts.
    Start(Instant),
    /// It is too late by now.
    Skip,
    /// The window is over.
    Over,
}

impl Recorder {
    /// `shape` is an empty tally of the workload; two copies are made, and more only where the
    /// conductor falls behind.
    pub(crate) fn new(shape: &Tally) -> Self {
        Self {
            inner: Mutex::new(Inner {
                window: None,
                index: 0,
                current: shape.clone(),
                finished: Vec::with_capacity(4),
                spare: vec![shape.clone()],
                flights: Flights::default(),
                warmup_committed: 0,
                last_end: None,
                reconnects: 0,
                disconnected: Vec::new(),
                wake: None,
                log: None,
            }),
        }
    }

    /// Keeps an entry of every measured transaction for [`Self::take_log`].
    pub(crate) fn keep_log(&self) {
        self.lock().log = Some(Vec::new());
    }

    /// Moves the entries so far to `entries`.
    pub(crate) fn take_log(&self, entries: &mut Vec<Entry>) {
        let mut inner = self.lock();
        let room = inner.log.as_ref().map_or(0, Vec::capacity);
        if let Some(log) = &mut inner.log {
            let taken = std::mem::replace(log, Vec::with_capacity(room));
            drop(inner);
            entries.extend(taken);
        }
    }

    /// A panic of another client must not hide what was counted before it.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the window, before the first transaction starts.
    pub(crate) fn begin(&self, window: Window) {
        self.lock().window = Some(window);
    }

    /// Ends the window early; `end` must lie ahead.
    pub(crate) fn end_at(&self, end: Instant) {
        if let Some(window) = self.lock().window.as_mut() {
            window.end = Some(end);
        }
    }

    /// Asks to start a transaction: its start, or nothing when the window is over.
    pub(crate) fn start(&self) -> Option<Instant> {
        let mut inner = self.lock();
        inner.start(Instant::now())
    }

    /// Asks to start the transaction that was to start at `intended`, which is past. With
    /// `skip_after`, one that is later than that is given up.
    pub(crate) fn start_late(
        &self,
        client: ClientId,
        intended: Instant,
        skip_after: Option<Duration>,
    ) -> Takeup {
        let mut inner = self.lock();
        let now = Instant::now();
        let takeup = inner.take_up(intended, now, skip_after);
        if let (Takeup::Skip, Inner { window: Some(window), log: Some(log), .. }) =
            (takeup, &mut *inner)
            && now >= window.start
        {
            log.push(Entry::skipped(client, intended, now));
        }
        takeup
    }

    /// Counts an arrival that was taken and never taken up: its client has gone.
    pub(crate) fn leave(&self, intended: Instant) {
        self.lock().leave(intended);
    }

    /// Notes how much later than intended a client that had nothing else to do woke up.
    pub(crate) fn woke(&self, late: Duration) {
        let mut inner = self.lock();
        let is_measured = inner.window.is_some_and(|window| Instant::now() >= window.start);
        if is_measured {
            inner
                .wake
                .get_or_insert_with(|| Box::new(Histogram::statements()))
                .record(nanoseconds(late));
        }
    }

    /// Adds the wake-up delays to `all`.
    pub(crate) fn add_wake_ups(&self, all: &mut Histogram) {
        if let Some(wake) = &self.lock().wake {
            all.merge(wake);
        }
    }

    /// Records a transaction that ends now. With `next`, the client's next one starts at the same
    /// instant: one lock and one look at the clock for both.
    pub(crate) fn finish(&self, sample: &Sample<'_>, next: bool) -> Option<Instant> {
        let mut inner = self.lock();
        let now = Instant::now();
        inner.finish(sample, now);
        if next { inner.start(now) } else { None }
    }

    /// Counts a transaction that never came to an end: cancelled, or its client was lost.
    pub(crate) fn give_up(&self, start: Instant) {
        let mut inner = self.lock();
        let Some(window) = inner.window else { return };
        let now = Instant::now();
        if now < window.start {
            return;
        }
        if start < window.start {
            inner.flights.in_flight_at_start += 1;
        }
        inner.flights.cut_off(now - start);
    }

    /// Merges all intervals before `index` into `take` and returns their tallies to the recorder.
    /// Called once the clock has passed the edge of `index`.
    pub(crate) fn collect(&self, index: u32, mut take: impl FnMut(u32, &Tally)) {
        let mut taken = {
            let mut inner = self.lock();
            if index > inner.index {
                inner.advance_to(index);
            }
            std::mem::take(&mut inner.finished)
        };
        if taken.is_empty() {
            return;
        }
        // Merged outside the lock: the clients go on meanwhile.
        for (interval, tally) in &mut taken {
            take(*interval, tally);
            tally.clear();
        }
        let mut inner = self.lock();
        inner.spare.extend(taken.drain(..).map(|(_, tally)| tally));
    }

    /// Whether nothing may start any more.
    pub(crate) fn is_over(&self) -> bool {
        let end = self.lock().window.and_then(|window| window.end);
        end.is_some_and(|end| Instant::now() >= end)
    }

    /// Whether the window ends before `instant`, or has ended.
    pub(crate) fn ends_before(&self, instant: Instant) -> bool {
        let end = self.lock().window.and_then(|window| window.end);
        end.is_some_and(|end| end <= instant)
    }

    /// Notes that `client` has been without a connection since `from`, and whether it has another
    /// one now or gives up.
    pub(crate) fn disconnected(&self, client: ClientId, from: Instant, is_back: bool) {
        let mut inner = self.lock();
        inner.reconnects += u64::from(is_back);
        let until = Instant::now();
        outages::note(&mut inner.disconnected, Disconnected { client, from, until });
    }

    /// What the clients noted.
    pub(crate) fn take_disconnected(&self) -> Vec<Disconnected> {
        std::mem::take(&mut self.lock().disconnected)
    }

    /// Connections made again, so far.
    pub(crate) fn reconnects(&self) -> u64 {
        self.lock().reconnects
    }

    /// The run's own terms of the identity, so far.
    pub(crate) fn flights(&self) -> Flights {
        self.lock().flights
    }

    /// Transactions committed in the warm-up, so far.
    pub(crate) fn warmup_committed(&self) -> u64 {
        self.lock().warmup_committed
    }

    /// End of the last transaction in the window.
    pub(crate) fn last_end(&self) -> Option<Instant> {
        self.lock().last_end
    }
}

fn index_at(window: &Window, now: Instant) -> u32 {
    let index = (now - window.start).as_nanos() / window.interval.as_nanos().max(1);
    u32::try_from(index).unwrap_or(u32::MAX)
}

impl Inner {
    fn take_up(&mut self, intended: Instant, now: Instant, skip_after: Option<Duration>) -> Takeup {
        let Some(window) = self.window else { return Takeup::Over };
        if window.end.is_some_and(|end| now >= end) {
            self.leave(intended);
            return Takeup::Over;
        }
        let is_measured = now >= window.start;
        self.flights.queued_at_start += u64::from(is_measured && intended < window.start);
        if skip_after.is_some_and(|limit| now - intended > limit) {
            if is_measured {
                self.advance_to(index_at(&window, now));
                self.current.skip();
            }
            return Takeup::Skip;
        }
        self.flights.started += u64::from(is_measured);
        Takeup::Start(now)
    }

    fn leave(&mut self, intended: Instant) {
        let Some(window) = self.window else { return };
        if window.end.is_some_and(|end| intended < end) {
            self.flights.queued_at_end += 1;
            self.flights.queued_at_start += u64::from(intended < window.start);
        }
    }

    fn start(&mut self, now: Instant) -> Option<Instant> {
        let window = self.window?;
        if window.end.is_some_and(|end| now >= end) {
            return None;
        }
        if now >= window.start {
            self.flights.started += 1;
        }
        Some(now)
    }

    fn finish(&mut self, sample: &Sample<'_>, now: Instant) {
        let Some(window) = self.window else { return };
        if now < window.start {
            if matches!(sample.outcome, Outcome::Committed) {
                self.warmup_committed += 1;
            }
            return;
        }
        if sample.start < window.start {
            self.flights.in_flight_at_start += 1;
        }
        if window.end.is_some_and(|end| now >= end) {
            self.flights.cut_off(now - sample.start);
            return;
        }
        self.last_end = Some(now);
        self.advance_to(index_at(&window, now));
        self.current.record(sample, now);
        if let Some(log) = &mut self.log {
            log.push(Entry::of(sample, now));
        }
    }

    /// Puts the current tally aside if it holds something and starts interval `index`.
    fn advance_to(&mut self, index: u32) {
        if index <= self.index {
            return;
        }
        if !self.current.is_empty() {
            let next = self.spare.pop().unwrap_or_else(|| self.current.emptied());
            let full = std::mem::replace(&mut self.current, next);
            self.finished.push((self.index, full));
        }
        self.index = index;
    }
}

#[cfg(test)]
mod tests;
