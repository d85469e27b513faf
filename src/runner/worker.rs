//! A worker: one thread with one current-thread runtime and the clients it was dealt.
//!
//! Nothing waits at a barrier. Each client says `Ready` or `StartFailed` on a channel, the
//! conductor answers all of them with the common window or ends the level; every end of a client,
//! a panic too, is a message.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::client::{Client, ClientEnd};
use super::recorder::Recorder;
use super::{ClientId, Level, LossReason, Sessions, connecting};
use crate::engine::{DbError, Engine, Preparing, Session};

/// Connections that one worker opens at a time: a server that is slow to fork is not overrun.
const CONNECTING_AT_ONCE: usize = 16;

/// What the conductor tells the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Connect and wait.
    Wait,
    /// The window is set: begin. This was the common start.
    Go(Instant),
    /// The window has ended before its time: who has not begun need not.
    Over,
    /// Drop what still runs.
    Abandon,
}

/// What workers tell the conductor.
#[derive(Debug)]
pub(crate) enum Report {
    /// A client is connected and its statements are prepared.
    Ready,
    /// A client could not start.
    StartFailed(DbError),
    /// A client came to its end.
    Ended(ClientId, ClientEnd),
    /// A worker runs; `thread` is its kernel thread id.
    WorkerStarted { worker: usize, thread: Option<i32> },
}

/// Handles that cancel what each client is doing; a client's newest connection.
pub(crate) type Cancellers<E> = Arc<Mutex<Vec<Option<<E as Engine>::Canceller>>>>;

/// Everything a worker needs.
pub(crate) struct Worker<E: Engine> {
    pub(crate) index: usize,
    /// Time is real: arrivals are waited for with the kernel's timers.
    pub(crate) precise: bool,
    pub(crate) engine: Arc<E>,
    pub(crate) level: Arc<Level>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clients: Vec<ClientId>,
    pub(crate) orders: watch::Receiver<Order>,
    pub(crate) reports: mpsc::UnboundedSender<Report>,
    pub(crate) cancellers: Cancellers<E>,
}

impl<E: Engine> Worker<E> {
    /// Runs the worker on a thread and a runtime of its own.
    pub(crate) fn spawn(self) -> std::io::Result<std::thread::JoinHandle<()>> {
        let name = format!("dbload-{}", self.index);
        std::thread::Builder::new().name(name).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build_local(tokio::runtime::LocalOptions::default());
            let thread = Some(rustix::thread::gettid().as_raw_nonzero().get());
            match runtime {
                Ok(runtime) => runtime.block_on(self.run(thread)),
                Err(error) => {
                    let error = DbError::new(
                        crate::engine::ErrorKind::Other,
                        "",
                        format!("cannot start a worker: {error}"),
                    );
                    // The conductor is gone only when the level is over.
                    let _ = self.reports.send(Report::StartFailed(error));
                }
            }
        })
    }

    /// Runs the worker's clients to their ends on the current runtime.
    pub(crate) async fn run(self, thread: Option<i32>) {
        let _ = self.reports.send(Report::WorkerStarted { worker: self.index, thread });
        let settings = &self.level.settings;
        if let Err(error) = self.engine.begin(&self.level.workload, settings.protocol).await {
            let _ = self.reports.send(Report::StartFailed(error));
            return;
        }
        let worker = Rc::new(self);
        let places = Rc::new(Semaphore::new(CONNECTING_AT_ONCE));
        // Woken from another thread, the runtime takes one client for every 31 that run already, and
        // the last of thousands would start seconds late. So the order is passed on here.
        let (passed_on, order) = watch::channel(Order::Wait);
        let mut tasks = Vec::with_capacity(worker.clients.len());
        for id in worker.clients.clone() {
            let (worker, places) = (Rc::clone(&worker), Rc::clone(&places));
            let order = order.clone();
            let task = tokio::task::spawn_local(async move {
                let end = worker.client(id, &places, order).await;
                worker.forget_canceller(id);
                if let Some(end) = end {
                    let _ = worker.reports.send(Report::Ended(id, end));
                }
            });
            tasks.push((id, task));
        }
        let mut orders = worker.orders.clone();
        let abandoned = async {
            loop {
                let order = *orders.borrow_and_update();
                passed_on.send_replace(order);
                if order == Order::Abandon || orders.changed().await.is_err() {
                    break;
                }
            }
        };
        tokio::pin!(abandoned);
        let mut is_abandoned = false;
        for (id, mut task) in tasks {
            if !is_abandoned {
                tokio::select! {
                    joined = &mut task => {
                        worker.report_panic(id, joined);
                        continue;
                    }
                    () = &mut abandoned => is_abandoned = true,
                }
            }
            task.abort();
            worker.report_panic(id, task.await);
        }
    }

    fn report_panic(&self, id: ClientId, joined: Result<(), tokio::task::JoinError>) {
        let Err(error) = joined else { return };
        let end = if error.is_panic() {
            ClientEnd::Lost(LossReason::Panic)
        } else {
            ClientEnd::Lost(LossReason::Abandoned)
        };
        let _ = self.reports.send(Report::Ended(id, end));
    }

    /// One client from its first connection to its end; nothing when it never began.
    async fn client(
        &self,
        id: ClientId,
        places: &Semaphore,
        mut order: watch::Receiver<Order>,
    ) -> Option<ClientEnd> {
        let mut conn;
        let session = {
            // The semaphore is never closed.
            let _permit = places.acquire().await.ok()?;
            if *order.borrow() == Order::Abandon {
                return None;
            }
            conn = match connecting::connect(&*self.engine, self.is_alone()).await {
                Ok(conn) => conn,
                Err(error) => return self.start_failed(error),
            };
            self.remember_canceller(id, &conn);
            let level = &self.level;
            match connecting::open(&*self.engine, &mut conn, level, Preparing::AtStart).await {
                Ok(session) => session,
                Err(error) => return self.start_failed(error),
            }
        };
        let session = match self.level.settings.sessions {
            Sessions::Kept => Some(session),
            // It has shown that there is a server, and that it takes the statements.
            Sessions::PerTransaction | Sessions::Pooled(_) => {
                session.close().await;
                drop(conn);
                None
            }
        };
        let _ = self.reports.send(Report::Ready);
        let began = match *order.wait_for(|order| *order != Order::Wait).await.ok()? {
            Order::Go(began) => began,
            Order::Over => return Some(ClientEnd::Over),
            Order::Wait | Order::Abandon => return None,
        };
        let joins = began + self.level.settings.joins_after(id);
        if joins > began {
            tokio::select! {
                () = sleep_until(joins) => {}
                _ = order.wait_for(|order| !matches!(order, Order::Go(_))) => {
                    return Some(ClientEnd::Over);
                }
            }
        }
        let client =
            Client::new(&self.level, Arc::clone(&self.recorder), id, self.precise, self.is_alone());
        let engine: &E = &self.engine;
        Some(client.run(engine, session, |conn| self.remember_canceller(id, conn)).await)
    }

    /// Whether the thread has one client only.
    fn is_alone(&self) -> bool {
        self.clients.len() == 1
    }

    fn start_failed(&self, error: DbError) -> Option<ClientEnd> {
        let _ = self.reports.send(Report::StartFailed(error));
        None
    }

    fn remember_canceller(&self, id: ClientId, conn: &E::Conn) {
        let canceller = self.engine.canceller(conn);
        let mut cancellers = self.cancellers.lock().unwrap_or_else(PoisonError::into_inner);
        cancellers[id.0 as usize] = Some(canceller);
    }

    fn forget_canceller(&self, id: ClientId) {
        let mut cancellers = self.cancellers.lock().unwrap_or_else(PoisonError::into_inner);
        cancellers[id.0 as usize] = None;
    }
}
