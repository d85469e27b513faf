//! One client: a session that runs transactions until the window ends. The hot path.
//!
//! Between connecting and the end of the window nothing here allocates, formats or locks, but for
//! the recorder's own lock. What a failure means is decided in one place, `settle`.

mod connections;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::alarm::Alarm;
use super::arrivals::Arrivals;
use super::interpreter::Interpreter;
use super::recorder::{Outcome, Recorder, Sample, StatementSample, Takeup};
use super::{ClientId, Level, LossReason};
use crate::engine::{Block, DbError, ErrorKind, Session};
use crate::script::program::StmtId;

/// Pauses between attempts to connect again, and after a failure that is gone over.
const BACK_OFF: [Duration; 5] = [
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
];

/// A client that waits for an arrival looks so often whether the window was ended meanwhile.
const LONGEST_NAP: Duration = Duration::from_millis(100);

fn back_off(attempt: usize) -> Duration {
    BACK_OFF[attempt.min(BACK_OFF.len() - 1)]
}

/// How a client came to its end.
#[derive(Debug)]
pub(crate) enum ClientEnd {
    /// The window is over, or all its transactions are made.
    Over,
    /// An error ended it before its time.
    Lost(LossReason),
}

/// Why a stretch of transactions on one connection ended.
enum Stretch {
    Over,
    ConnectionLost(DbError),
    Lost(LossReason),
}

/// A client's state that outlives its connections.
pub(crate) struct Client<'a> {
    level: &'a Level,
    recorder: Arc<Recorder>,
    id: ClientId,
    interpreter: Interpreter<'a>,
    /// Transactions still to make, where they are counted.
    remaining: Option<u64>,
    /// Statements of the current try.
    samples: Vec<StatementSample>,
    /// Where the current transaction's earlier tries failed.
    retried_at: Vec<Option<StmtId>>,
    failures_in_a_row: usize,
    /// Since when it has been without a connection, and how often it tried to make one.
    without_since: Option<Instant>,
    attempts: usize,
    /// What the current transaction took to come by its session, where it has one of its own.
    acquiring: Option<Duration>,
    alarm: Alarm,
    /// It has its thread to itself.
    is_alone: bool,
}

impl<'a> Client<'a> {
    /// A client that is about to begin. `precise` is real time, not virtual.
    pub(crate) fn new(
        level: &'a Level,
        recorder: Arc<Recorder>,
        id: ClientId,
        precise: bool,
        is_alone: bool,
    ) -> Self {
        let longest = level.workload.scripts.iter().map(|script| script.program.steps.len()).max();
        Self {
            level,
            recorder,
            id,
            interpreter: Interpreter::new(&level.workload, &level.settings, id),
            remaining: level.settings.length.transactions(),
            samples: Vec::with_capacity(longest.unwrap_or(0)),
            retried_at: Vec::new(),
            failures_in_a_row: 0,
            without_since: None,
            attempts: 0,
            acquiring: None,
            alarm: Alarm::new(
                precise && (level.arrivals.get().is_some() || level.workload.sleeps()),
            ),
            is_alone,
        }
    }

    /// Transactions until the window, the session or the client ends.
    async fn transactions<S: Session>(&mut self, session: S) -> Stretch {
        match self.level.arrivals.get() {
            None => self.closed_loop(session).await,
            Some(arrivals) => self.open_loop(arrivals, session).await,
        }
    }

    /// Transactions as they arrive; what came while the client was busy starts at once.
    async fn open_loop<S: Session>(&mut self, arrivals: &Arrivals, mut session: S) -> Stretch {
        let recorder = Arc::clone(&self.recorder);
        while let Some(flight) = self.next_arrival(arrivals, &recorder).await {
            let script = self.interpreter.choose_script();
            if let Err(stretch) = self.transaction(&mut session, script, flight, false).await {
                return stretch;
            }
        }
        session.close().await;
        Stretch::Over
    }

    /// The next transaction of the schedule, once it is due; nothing when there is none to make.
    async fn next_arrival<'r>(
        &mut self,
        arrivals: &Arrivals,
        recorder: &'r Recorder,
    ) -> Option<Flight<'r>> {
        let skip_after = self.level.settings.latency_limit;
        while self.remaining != Some(0) {
            let taken = Taken { recorder, intended: Some(arrivals.take()) };
            if !self.wait_for(&taken).await {
                return None;
            }
            let intended = taken.up()?;
            match recorder.start_late(self.id, intended, skip_after) {
                Takeup::Start(start) => return Some(Flight::new(recorder, intended, start)),
                Takeup::Skip => self.takes_another(),
                Takeup::Over => return None,
            };
        }
        None
    }

    /// Waits for an arrival's time; false when the window ends before.
    async fn wait_for(&mut self, taken: &Taken<'_>) -> bool {
        let Some(intended) = taken.intended else { return false };
        let mut waited = false;
        loop {
            let now = Instant::now();
            if now >= intended {
                if waited {
                    self.recorder.woke(now - intended);
                }
                return true;
            }
            if self.recorder.ends_before(intended) {
                return false;
            }
            waited = true;
            self.alarm.wait(intended, LONGEST_NAP).await;
        }
    }

    /// Transaction after transaction.
    async fn closed_loop<S: Session>(&mut self, mut session: S) -> Stretch {
        let recorder = Arc::clone(&self.recorder);
        let mut next = if self.remaining == Some(0) { None } else { recorder.start() };
        while let Some(start) = next {
            let flight = Flight::new(&recorder, start, start);
            let script = self.interpreter.choose_script();
            match self.transaction(&mut session, script, flight, true).await {
                Ok(after) => next = after,
                Err(stretch) => return stretch,
            }
        }
        session.close().await;
        Stretch::Over
    }

    /// One transaction with all its tries. Returns the start of the next one, if it is `chained`
    /// to this one, or what ends the stretch.
    async fn transaction<S: Session>(
        &mut self,
        session: &mut S,
        script: usize,
        flight: Flight<'_>,
        chained: bool,
    ) -> Result<Option<Instant>, Stretch> {
        let may_retry = self.level.settings.max_tries != 1;
        if may_retry {
            self.interpreter.save();
        }
        let (client, intended, start) = (self.id, flight.intended, flight.start);
        let acquiring = self.acquiring;
        self.retried_at.clear();
        loop {
            self.samples.clear();
            let (samples, alarm) = (&mut self.samples, &mut self.alarm);
            let Err(failure) = self.interpreter.run(script, session, samples, alarm).await else {
                self.failures_in_a_row = 0;
                let next = self.takes_another() && chained;
                let (outcome, statements) = (Outcome::Committed, &self.samples[..]);
                let retried_at = &self.retried_at[..];
                let sample = Sample {
                    client,
                    script,
                    intended,
                    start,
                    acquiring,
                    outcome,
                    retried_at,
                    statements,
                };
                return Ok(flight.land(&sample, next));
            };
            let (error, at, is_sql) = failure.parts();
            let (error, then) = match self.settle(session, error, is_sql, script).await {
                Verdict::TryAgain => {
                    self.retried_at.push(at);
                    self.interpreter.restore();
                    continue;
                }
                // The flight is dropped: unfinished.
                Verdict::Cancelled => return Err(Stretch::Over),
                Verdict::Failed { error, then } => (error, then),
            };
            let next = self.takes_another() && chained;
            let (outcome, statements) = (Outcome::Failed { error: &error, at }, &[][..]);
            let goes_on = next && matches!(then, Then::GoOn);
            let retried_at = &self.retried_at[..];
            let sample = Sample {
                client,
                script,
                intended,
                start,
                acquiring,
                outcome,
                retried_at,
                statements,
            };
            let after = flight.land(&sample, goes_on);
            return match then {
                Then::GoOn => Ok(after),
                Then::GoOnAfterPause => {
                    // A failure among successes costs no pause, one after the other do.
                    if let Some(attempt) = self.failures_in_a_row.checked_sub(1) {
                        tokio::time::sleep(back_off(attempt)).await;
                    }
                    self.failures_in_a_row += 1;
                    Ok(if next { self.recorder.start() } else { None })
                }
                Then::Reconnect => Err(Stretch::ConnectionLost(error)),
                Then::End => {
                    let script = self.interpreter.script_name(script).to_owned();
                    Err(Stretch::Lost(LossReason::Script { script, error }))
                }
            };
        }
    }

    /// Counts a transaction off where they are counted; whether another one is to be made.
    fn takes_another(&mut self) -> bool {
        match self.remaining.as_mut() {
            None => true,
            Some(remaining) => {
                *remaining -= 1;
                *remaining > 0
            }
        }
    }

    /// Shows an error where that is asked for.
    fn tell(&self, script: usize, tries: usize, error: &DbError) {
        if let Some(tell) = self.level.settings.on_error {
            let (client, script) =
                (self.interpreter.client(), self.interpreter.script_name(script));
            tell(&format!("client {client}, script {script}, try {tries}: {error}"));
        }
    }

    /// Decides what a failure means, and leaves the session outside any block.
    async fn settle<S: Session>(
        &mut self,
        session: &mut S,
        error: DbError,
        is_sql: bool,
        script: usize,
    ) -> Verdict {
        let settings = &self.level.settings;
        let tries = self.retried_at.len() + 1;
        self.tell(script, tries, &error);
        match error.kind() {
            ErrorKind::Cancelled if self.recorder.is_over() => return Verdict::Cancelled,
            ErrorKind::Lost => return Verdict::Failed { error, then: Then::Reconnect },
            _ => {}
        }
        if (session.block() != Block::Idle || session.in_pipeline())
            && let Err(rollback) = session.rollback().await
        {
            return Verdict::Failed { error: rollback, then: Then::Reconnect };
        }
        if is_sql && error.is_retriable() {
            let may_retry = settings.max_tries == 0 || tries < settings.max_tries as usize;
            if may_retry && !self.recorder.is_over() {
                return Verdict::TryAgain;
            }
            return Verdict::Failed { error, then: Then::GoOn };
        }
        let ignored = is_sql && settings.ignores(&error);
        let then = match (ignored, settings.continue_on_error) {
            (true, _) => Then::GoOn,
            (false, true) => Then::GoOnAfterPause,
            (false, false) => Then::End,
        };
        Verdict::Failed { error, then }
    }
}

enum Verdict {
    TryAgain,
    Cancelled,
    Failed { error: DbError, then: Then },
}

enum Then {
    GoOn,
    GoOnAfterPause,
    Reconnect,
    End,
}

/// An arrival that a client has taken. Dropped before it is taken up, with its client, it counts as
/// queued.
struct Taken<'r> {
    recorder: &'r Recorder,
    intended: Option<Instant>,
}

impl Taken<'_> {
    fn up(mut self) -> Option<Instant> {
        self.intended.take()
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(intended) = self.intended {
            self.recorder.leave(intended);
        }
    }
}

/// A transaction that has started. Dropped before it landed, with its client or in a panic, it
/// counts as unfinished.
struct Flight<'r> {
    recorder: &'r Recorder,
    intended: Instant,
    start: Instant,
    landed: bool,
}

impl<'r> Flight<'r> {
    fn new(recorder: &'r Recorder, intended: Instant, start: Instant) -> Self {
        Self { recorder, intended, start, landed: false }
    }

    fn land(mut self, sample: &Sample<'_>, next: bool) -> Option<Instant> {
        self.landed = true;
        self.recorder.finish(sample, next)
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if !self.landed {
            self.recorder.give_up(self.start);
        }
    }
}
