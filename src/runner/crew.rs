//! The workers of a level: dealing out clients, their common start, their end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use super::arrivals::Arrivals;
use super::client::ClientEnd;
use super::recorder::{Recorder, Window};
use super::tally::{Shape, Tally};
use super::worker::{Cancellers, Order, Report, Worker};
use super::{ClientId, Length, Level, LossReason, Sessions};
use crate::engine::{Canceller, DbError, Engine};

/// What is cancelled gets so long to come back before it is abandoned.
const CANCEL_WAIT: Duration = Duration::from_secs(2);

/// Why a level measured nothing.
#[derive(Debug)]
pub(crate) enum StartError {
    /// A client could not connect or prepare.
    Client(DbError),
    /// A worker could not be started, or ended without a word.
    Worker(std::io::Error),
    /// A signal came before the window.
    Interrupted,
}

/// Where workers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launch {
    /// Each on a thread of its own.
    Threads,
    /// On the current runtime: simulated time needs one clock.
    #[cfg(test)]
    Here,
}

/// The workers of a level and the wires to them.
pub(super) struct Crew<E: Engine> {
    pub(super) level: Arc<Level>,
    pub(super) shape: Tally,
    pub(super) recorders: Vec<Arc<Recorder>>,
    pub(super) orders: watch::Sender<Order>,
    pub(super) reports: mpsc::UnboundedReceiver<Report>,
    pub(super) cancellers: Cancellers<E>,
    /// Kernel thread of each worker, once it has said so.
    pub(super) threads: Vec<Option<i32>>,
    pub(super) ready: u32,
    pub(super) ended: u32,
    pub(super) lost: Vec<(ClientId, LossReason)>,
    /// When the common start was.
    pub(super) began: Instant,
}

impl<E: Engine> Crew<E> {
    pub(super) fn launch(
        engine: &Arc<E>,
        level: Arc<Level>,
        launch: Launch,
    ) -> Result<Self, StartError> {
        let clients = level.settings.clients;
        let workers = if E::BLOCKING { clients } else { level.settings.workers.min(clients) };
        let (orders, _) = watch::channel(Order::Wait);
        let (report, reports) = mpsc::unbounded_channel();
        let shape = Tally::new(Shape {
            scripts: level.workload.scripts.len(),
            statements: level.workload.statements.len(),
            acquiring: level.settings.sessions != Sessions::Kept,
            open_loop: level.settings.rate.is_some(),
            latency_limit: level.settings.latency_limit,
        });
        let cancellers: Cancellers<E> = Arc::new(Mutex::new((0..clients).map(|_| None).collect()));
        let mut recorders = Vec::new();
        for index in 0..workers {
            let recorder = Arc::new(Recorder::new(&shape));
            if level.settings.log {
                recorder.keep_log();
            }
            recorders.push(Arc::clone(&recorder));
            let worker = Worker {
                index: recorders.len() - 1,
                precise: matches!(launch, Launch::Threads),
                engine: Arc::clone(engine),
                level: Arc::clone(&level),
                recorder,
                clients: (index..clients).step_by(workers as usize).map(ClientId).collect(),
                orders: orders.subscribe(),
                reports: report.clone(),
                cancellers: Arc::clone(&cancellers),
            };
            match launch {
                // The thread is never joined: what it has to say comes by `reports`.
                Launch::Threads => drop(worker.spawn().map_err(StartError::Worker)?),
                #[cfg(test)]
                Launch::Here => drop(tokio::task::spawn_local(worker.run(None))),
            }
        }
        Ok(Self {
            threads: vec![None; recorders.len()],
            level,
            shape,
            recorders,
            orders,
            reports,
            cancellers,
            ready: 0,
            ended: 0,
            lost: Vec::new(),
            began: Instant::now(),
        })
    }

    /// Waits until every client is connected and prepared.
    pub(super) async fn all_ready(
        &mut self,
        interrupt: &mut watch::Receiver<bool>,
    ) -> Result<(), StartError> {
        while self.ready < self.level.settings.clients {
            let report = tokio::select! {
                report = self.reports.recv() => report,
                _ = interrupt.wait_for(|interrupted| *interrupted) => {
                    return Err(StartError::Interrupted);
                }
            };
            match report {
                Some(Report::StartFailed(error)) => return Err(StartError::Client(error)),
                Some(report) => self.take(report),
                None => {
                    return Err(StartError::Worker(std::io::Error::other(
                        "a worker ended without a word",
                    )));
                }
            }
        }
        Ok(())
    }

    pub(super) fn take(&mut self, report: Report) {
        match report {
            Report::Ready => self.ready += 1,
            Report::WorkerStarted { worker, thread } => self.threads[worker] = thread,
            Report::Ended(id, end) => {
                self.ended += 1;
                match end {
                    // Its transaction is unfinished; the client itself did nothing wrong.
                    ClientEnd::Over | ClientEnd::Lost(LossReason::Abandoned) => {}
                    ClientEnd::Lost(reason) => self.lost.push((id, reason)),
                }
            }
            // Only while connecting, and there it ends the level.
            Report::StartFailed(_) => {}
        }
    }

    /// Sets the window and lets all clients go.
    pub(super) fn begin(&mut self) -> Window {
        let settings = &self.level.settings;
        let now = Instant::now();
        self.began = now;
        let start = now + settings.ramp + settings.warmup;
        if let Some(rate) = settings.rate {
            // Set once: a level begins once.
            let _ = self.level.arrivals.set(Arrivals::new(rate, now));
        }
        let end = match settings.length {
            Length::Duration(length) => Some(start + length),
            Length::Transactions(_) => None,
        };
        let window = Window { start, end, interval: settings.interval };
        for recorder in &self.recorders {
            recorder.begin(window);
        }
        self.orders.send_replace(Order::Go(now));
        window
    }

    pub(super) fn is_over(&self) -> bool {
        self.ended >= self.level.settings.clients
    }

    /// Lets clients that have not begun yet go.
    pub(super) fn call_off(&self) {
        self.orders.send_replace(Order::Over);
    }

    /// Drops what still runs.
    pub(super) fn abandon(&self) {
        self.orders.send_replace(Order::Abandon);
    }

    /// Waits for the ends of all clients that are ready, or until the workers are gone.
    pub(super) async fn all_ended(&mut self) {
        let deadline = Instant::now() + CANCEL_WAIT;
        while !self.is_over() {
            match tokio::time::timeout_at(deadline, self.reports.recv()).await {
                Ok(Some(report)) => self.take(report),
                Ok(None) | Err(_) => break,
            }
        }
    }

    /// Cancels, on the server, what clients still do.
    pub(super) async fn cancel(&self) {
        let cancellers: Vec<_> = {
            let mut cancellers = self.cancellers.lock().unwrap_or_else(PoisonError::into_inner);
            cancellers.iter_mut().filter_map(Option::take).collect()
        };
        let all = async {
            for canceller in cancellers {
                canceller.cancel().await;
            }
        };
        // A server that answers nothing any more does not answer a cancel request either.
        let _ = timeout(CANCEL_WAIT, all).await;
    }
}
