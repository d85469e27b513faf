//! One client level, from connecting to the last client's end: the conductor.
//!
//! It deals clients to workers, sets the common window once all are ready, takes the finished
//! intervals from the recorders, and ends the level at the deadline, on a signal, or when no
//! client is left.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::arrivals::Due;
use super::clock::{process_cpu, thread_cpu};
use super::crew::{Crew, Launch, StartError};
use super::log::{EVERY, Entry, Merged};
use super::outages::{Outage, outages};
use super::recorder::{Flights, Window};
use super::tally::Tally;
use super::{ClientId, Level, LossReason};
use crate::engine::Engine;
use crate::stats::histogram::Histogram;

/// An interval is taken so long after its end; what was recorded late is none the less in it.
const COLLECT_DELAY: Duration = Duration::from_millis(2);

/// A wait of so long after the window is explained.
const SILENCE: Duration = Duration::from_secs(1);

/// Hears of every interval once it is over.
pub(crate) trait Observer {
    /// All clients are connected; the warm-up begins.
    fn started(&mut self, connecting: Duration);
    /// A second of ramp and warm-up has passed; `tps` counts committed transactions in it.
    fn warming(&mut self, elapsed: Duration, tps: f64);
    /// The window began at `start`, by the wall clock.
    fn window(&mut self, start: SystemTime);
    /// The window is `elapsed` old: at its start, at every edge of an interval, and at its end.
    fn edge(&mut self, elapsed: Duration);
    /// An interval is complete.
    fn interval(&mut self, interval: &Interval<'_>);
    /// These transactions have ended, in the order of their ends, which count from `start`, the
    /// start of the window. Comes only when asked for.
    fn transactions(&mut self, _start: Instant, _entries: &[Entry]) {}
    /// The window is over, and so many clients are still busy; they are given `left` to end.
    fn lingering(&mut self, _clients: u32, _left: Duration) {}
}

/// One interval of all workers together.
#[derive(Debug)]
pub(crate) struct Interval<'a> {
    pub(crate) index: u32,
    /// From the start of the window.
    pub(crate) start: Duration,
    pub(crate) length: Duration,
    /// Shorter than asked for: the last one of its run.
    pub(crate) partial: bool,
    pub(crate) tally: &'a Tally,
    /// Transactions that the window's end cut off; only the last interval has any.
    pub(crate) unfinished: u64,
    /// Connections that were made again since the interval before.
    pub(crate) reconnects: u64,
}

/// What a level found.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Length of the window.
    pub(crate) measured: Duration,
    pub(crate) total: Tally,
    /// Committed transactions and length of each interval, first to last.
    pub(crate) intervals: Vec<(u64, Duration)>,
    pub(crate) flights: Flights,
    /// What an open loop adds.
    pub(crate) open: Option<OpenLoop>,
    pub(crate) reconnects: u64,
    /// Times in which clients were without a connection.
    pub(crate) outages: Vec<Outage>,
    /// CPU time of this process within the window.
    pub(crate) cpu: Duration,
    /// What each worker did.
    pub(crate) workers: Vec<WorkerPart>,
    /// Clients that ended before their time.
    pub(crate) lost: Vec<(ClientId, LossReason)>,
    /// A signal ended the level.
    pub(crate) interrupted: bool,
}

/// A worker's part of a level.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkerPart {
    /// Transactions that its clients committed.
    pub(crate) committed: u64,
    /// CPU time of its thread within whole intervals; absent where the kernel does not tell.
    pub(crate) cpu: Option<Duration>,
    /// Length of those intervals.
    pub(crate) watched: Duration,
    /// The largest share of such an interval that the thread was on a CPU, 0 to 1.
    pub(crate) busiest: Option<f64>,
}

/// What the schedule of an open loop came to.
#[derive(Debug)]
pub(crate) struct OpenLoop {
    /// Arrivals due within the window, counted from the seed.
    pub(crate) scheduled: u64,
    /// How late idle clients woke up: dbload's own error.
    pub(crate) wake: Histogram,
    /// Arrivals that were due and not taken, at the end of each interval.
    pub(crate) backlog: Vec<(Duration, u64)>,
}

impl Outcome {
    /// The identities of `recorder` and `arrivals`; false is a defect in dbload.
    pub(crate) fn adds_up(&self) -> bool {
        let flights = &self.flights;
        let closed = flights.in_flight_at_start + flights.started
            == self.total.committed() + self.total.failed() + flights.unfinished;
        let open = self.open.as_ref().is_none_or(|open| {
            open.scheduled + flights.queued_at_start
                == flights.started + self.total.skipped + flights.queued_at_end
        });
        closed && open
    }
}

/// Runs one level. `interrupt` becomes true when the user wants an end.
pub(crate) async fn measure<E: Engine>(
    engine: &Arc<E>,
    level: Level,
    launch: Launch,
    mut interrupt: watch::Receiver<bool>,
    observer: &mut dyn Observer,
) -> Result<Outcome, StartError> {
    let connecting = Instant::now();
    let mut crew = Crew::launch(engine, Arc::new(level), launch)?;
    if let Err(error) = crew.all_ready(&mut interrupt).await {
        crew.abandon();
        crew.all_ended().await;
        return Err(error);
    }
    observer.started(connecting.elapsed());
    let window = crew.begin();
    let due = crew.level.settings.rate.map(|rate| Due::new(rate, crew.began));
    let conductor = Conductor {
        due,
        backlog: Vec::new(),
        total: crew.shape.clone(),
        intervals: Vec::new(),
        pending: BTreeMap::new(),
        spare: Vec::new(),
        reconnects: 0,
        next: 0,
        cpu: Vec::new(),
        workers: vec![WorkerPart::default(); crew.recorders.len()],
        watched: Instant::now(),
        log: Merged::default(),
        log_due: Instant::now(),
        window,
        observer,
        crew,
    };
    Ok(conductor.run(&mut interrupt).await)
}

/// A level that is being measured.
struct Conductor<'a, E: Engine> {
    crew: Crew<E>,
    observer: &'a mut dyn Observer,
    window: Window,
    total: Tally,
    intervals: Vec<(u64, Duration)>,
    /// Intervals that some worker has finished and that are not shown yet.
    pending: BTreeMap<u32, Tally>,
    spare: Vec<Tally>,
    /// Connections made again that were told of.
    reconnects: u64,
    /// The next interval to show.
    next: u32,
    /// The open loop's schedule, counted beside the clients.
    due: Option<Due>,
    backlog: Vec<(Duration, u64)>,
    /// CPU time of each worker's thread when the last interval was shown.
    cpu: Vec<Option<Duration>>,
    workers: Vec<WorkerPart>,
    /// When the workers were last looked at.
    watched: Instant,
    log: Merged,
    /// When the entries of the log are to be handed on next.
    log_due: Instant,
}

impl<E: Engine> Conductor<'_, E> {
    async fn run(mut self, interrupt: &mut watch::Receiver<bool>) -> Outcome {
        let interrupted = self.warm_up(interrupt).await;
        let cpu = process_cpu();
        self.cpu = self.crew.threads.iter().map(|thread| thread.and_then(thread_cpu)).collect();
        self.watched = Instant::now();
        let passed = self.watched.saturating_duration_since(self.window.start);
        self.observer.window(SystemTime::now() - passed);
        self.edge();
        let interrupted = interrupted || self.conduct(interrupt).await;
        self.edge();
        let cpu = process_cpu().saturating_sub(cpu);
        self.wait_for_the_last().await;
        let measured = self.finish();
        if self.crew.level.settings.log {
            let Self { crew, log, observer, window, .. } = &mut self;
            let recorders = crew.recorders.iter().map(|recorder| &**recorder);
            log.finish(recorders, |entries| observer.transactions(window.start, entries));
        }
        let mut flights = Flights::default();
        for recorder in &self.crew.recorders {
            flights.add(&recorder.flights());
        }
        let open = self.close_schedule(&mut flights);
        let disconnected = self.crew.recorders.iter().flat_map(|r| r.take_disconnected()).collect();
        let end = self.window.start + measured;
        let outages = outages(disconnected, self.window.start, end);
        Outcome {
            measured,
            total: self.total,
            intervals: self.intervals,
            flights,
            open,
            reconnects: self.crew.recorders.iter().map(|recorder| recorder.reconnects()).sum(),
            outages,
            cpu,
            workers: self.workers,
            lost: self.crew.lost,
            interrupted,
        }
    }

    /// Lets the warm-up pass; true when a signal ended it.
    async fn warm_up(&mut self, interrupt: &mut watch::Receiver<bool>) -> bool {
        let begin = self.crew.began;
        let mut shown = 0;
        let mut tick = begin + Duration::from_secs(1);
        while Instant::now() < self.window.start && !self.nobody_is_left() && !self.must_abort() {
            let wake = tick.min(self.window.start);
            tokio::select! {
                () = sleep_until(wake) => {}
                Some(report) = self.crew.reports.recv() => {
                    self.crew.take(report);
                    continue;
                }
                _ = interrupt.wait_for(|interrupted| *interrupted) => {
                    self.stop();
                    return true;
                }
            }
            let committed: u64 =
                self.crew.recorders.iter().map(|recorder| recorder.warmup_committed()).sum();
            let second = wake - (tick - Duration::from_secs(1));
            if second >= Duration::from_millis(500) {
                #[expect(clippy::cast_precision_loss, reason = "a rate for the eye")]
                let tps = (committed - shown) as f64 / second.as_secs_f64();
                self.observer.warming(wake - begin, tps);
            }
            shown = committed;
            tick += Duration::from_secs(1);
        }
        false
    }

    /// Shows interval after interval until the window ends; true when a signal ended it.
    async fn conduct(&mut self, interrupt: &mut watch::Receiver<bool>) -> bool {
        loop {
            if self.nobody_is_left() || self.must_abort() {
                self.stop();
                return false;
            }
            let edge = self.window.edge(self.next + 1);
            let end = self.window.end.filter(|end| *end <= edge);
            let logs = self.crew.level.settings.log;
            tokio::select! {
                () = sleep_until(self.log_due), if logs => self.hand_on_log(),
                () = sleep_until(end.unwrap_or(edge + COLLECT_DELAY)) => {
                    if end.is_some() {
                        return false;
                    }
                    self.show_complete(edge);
                    self.edge();
                }
                Some(report) = self.crew.reports.recv() => self.crew.take(report),
                _ = interrupt.wait_for(|interrupted| *interrupted) => {
                    self.stop();
                    return true;
                }
            }
        }
    }

    fn hand_on_log(&mut self) {
        self.log_due = Instant::now() + EVERY;
        let Self { crew, log, observer, window, .. } = self;
        let recorders = crew.recorders.iter().map(|recorder| &**recorder);
        log.hand_on(recorders, |entries| observer.transactions(window.start, entries));
    }

    /// Tells the observer how far the window has come.
    fn edge(&mut self) {
        self.observer.edge(Instant::now().saturating_duration_since(self.window.start));
    }

    /// Whether the window need not be waited for. In an open loop a client ends as soon as its next
    /// arrival lies behind a timed window, which goes on all the same.
    fn nobody_is_left(&self) -> bool {
        let all_lost = self.crew.lost.len() >= self.crew.level.settings.clients as usize;
        self.crew.is_over() && (all_lost || self.window.end.is_none())
    }

    fn must_abort(&self) -> bool {
        self.crew.level.settings.exit_on_abort && !self.crew.lost.is_empty()
    }

    /// Ends the window now, but for the moment that it takes to tell all workers.
    fn stop(&mut self) {
        let end = Instant::now() + Duration::from_millis(1);
        if self.window.end.is_some_and(|known| known <= end) {
            return;
        }
        // With counted transactions the window ends with the last of them.
        let last = self.crew.recorders.iter().filter_map(|recorder| recorder.last_end()).max();
        let end = match (self.crew.is_over(), last) {
            (true, Some(last)) => last,
            _ => end,
        };
        self.window.end = Some(end);
        for recorder in &self.crew.recorders {
            recorder.end_at(end);
        }
        self.crew.call_off();
    }

    /// Waits for the transactions that the window's end cut off; cancels, then abandons them.
    async fn wait_for_the_last(&mut self) {
        let grace = self.window.end.unwrap_or_else(Instant::now) + self.crew.level.settings.grace;
        // A moment is nothing to speak of.
        let mut told = Instant::now() + SILENCE;
        while !self.crew.is_over() {
            tokio::select! {
                report = self.crew.reports.recv() => match report {
                    Some(report) => self.crew.take(report),
                    None => return,
                },
                () = sleep_until(told), if told < grace => {
                    let busy = self.crew.level.settings.clients - self.crew.ended;
                    self.observer.lingering(busy, grace - told);
                    told = grace;
                }
                () = sleep_until(grace) => break,
            }
        }
        if !self.crew.is_over() {
            self.crew.cancel().await;
            self.crew.all_ended().await;
        }
        if !self.crew.is_over() {
            self.crew.abandon();
            self.crew.all_ended().await;
        }
    }

    /// Counts the arrivals that nobody took, and the whole schedule over again.
    fn close_schedule(&mut self, flights: &mut Flights) -> Option<OpenLoop> {
        let rate = self.crew.level.settings.rate?;
        let taken = self.crew.level.arrivals.get()?.taken();
        let end = self.window.end.unwrap_or_else(Instant::now).max(self.window.start);
        let mut due = Due::new(rate, self.crew.began);
        let before = due.before(self.window.start);
        let until_end = due.before(end);
        flights.queued_at_start += before.saturating_sub(taken);
        flights.queued_at_end += until_end.saturating_sub(taken);
        let mut wake = Histogram::statements();
        for recorder in &self.crew.recorders {
            recorder.add_wake_ups(&mut wake);
        }
        let backlog = std::mem::take(&mut self.backlog);
        Some(OpenLoop { scheduled: until_end - before, wake, backlog })
    }

    /// Notes how many arrivals are due and not taken.
    fn watch_backlog(&mut self, now: Instant) {
        if let (Some(due), Some(arrivals)) = (&mut self.due, self.crew.level.arrivals.get()) {
            // The look at the schedule must not come before the look at the clients.
            let taken = arrivals.taken();
            let waiting = due.before(now).saturating_sub(taken);
            self.backlog.push((now - self.window.start, waiting));
        }
    }

    /// Shows what is left and returns the length of the window.
    fn finish(&mut self) -> Duration {
        let end = self.window.end.unwrap_or_else(Instant::now).max(self.window.start);
        let measured = end - self.window.start;
        while self.window.edge(self.next + 1) <= end {
            self.show_complete(self.window.edge(self.next + 1));
        }
        let rest = end.saturating_duration_since(self.window.edge(self.next));
        self.gather(self.next + 1);
        if !rest.is_zero() || self.pending.contains_key(&self.next) {
            self.show(rest, true);
        }
        measured
    }

    /// Shows the interval that ended at `edge`.
    fn show_complete(&mut self, edge: Instant) {
        self.gather(self.next + 1);
        self.watch_workers();
        self.watch_backlog(edge);
        debug_assert_eq!(edge, self.window.edge(self.next + 1));
        self.show(self.window.interval, false);
    }

    /// Takes from all workers what ended before interval `index`.
    fn gather(&mut self, index: u32) {
        let Self { crew, pending, spare, workers, .. } = self;
        for (recorder, part) in crew.recorders.iter().zip(workers) {
            recorder.collect(index, |interval, tally| {
                part.committed += tally.committed();
                pending
                    .entry(interval)
                    .or_insert_with(|| spare.pop().unwrap_or_else(|| tally.emptied()))
                    .merge(tally);
            });
        }
    }

    /// Hands interval `next` to the observer. A missing one is one in which nothing ended.
    fn show(&mut self, length: Duration, partial: bool) {
        let mut tally = self
            .pending
            .remove(&self.next)
            .or_else(|| self.spare.pop())
            .unwrap_or_else(|| self.total.emptied());
        let is_last = self.window.end == Some(self.window.edge(self.next) + length);
        let unfinished = if is_last {
            self.crew.recorders.iter().map(|recorder| recorder.flights().unfinished).sum()
        } else {
            0
        };
        let reconnects = self.crew.recorders.iter().map(|recorder| recorder.reconnects()).sum();
        self.observer.interval(&Interval {
            index: self.next,
            start: self.window.interval * self.next,
            length,
            partial,
            tally: &tally,
            unfinished,
            reconnects: reconnects - self.reconnects,
        });
        self.reconnects = reconnects;
        self.intervals.push((tally.committed(), length));
        self.total.merge(&tally);
        tally.clear();
        self.spare.push(tally);
        self.next += 1;
    }

    /// Notes for how much of the interval each worker's thread was on a CPU.
    fn watch_workers(&mut self) {
        let passed = std::mem::replace(&mut self.watched, Instant::now()).elapsed();
        let readings = self.crew.threads.iter().zip(&mut self.cpu);
        for ((thread, before), part) in readings.zip(&mut self.workers) {
            let now = thread.and_then(thread_cpu);
            if let (Some(now), Some(before)) = (now, *before) {
                let used = now.saturating_sub(before);
                part.cpu = Some(part.cpu.unwrap_or_default() + used);
                part.watched += passed;
                let share = used.as_secs_f64() / passed.as_secs_f64();
                part.busiest = Some(part.busiest.map_or(share, |most| most.max(share)));
            }
            *before = now;
        }
    }
}
