//! Rows over several connections: a thread with a runtime for each, ranges handed out in order.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::error::LoadError;
use super::tables::run;
use crate::engine::{Admin, DbError, Engine};
use crate::schema::TableRows;

/// Rows of one range: one scale unit of accounts, about a third of a second of COPY. Ranges are
/// handed out in order, so that rows come to lie nearly in the order of their keys.
const RANGE_ROWS: u64 = 100_000;

/// What all connections load together.
pub(super) struct Work {
    tables: Vec<TableRows>,
    /// Table and rows.
    ranges: Vec<(usize, Range<u64>)>,
    next: AtomicUsize,
    /// Somebody failed, or nobody waits for the rows any more.
    stop: AtomicBool,
    /// Run by a connection before its first range, and after its last one.
    before: Vec<String>,
    after: Vec<String>,
}

impl Work {
    /// All rows of `tables`: each table in one piece (`whole`), or in ranges.
    pub(super) fn new(
        tables: Vec<TableRows>,
        whole: bool,
        before: Vec<String>,
        after: Vec<String>,
    ) -> Self {
        let mut ranges = Vec::new();
        for (table, rows) in tables.iter().map(|table| table.rows).enumerate() {
            let step = if whole { rows } else { RANGE_ROWS };
            let mut start = 0;
            while start < rows {
                let end = rows.min(start + step);
                ranges.push((table, start..end));
                start = end;
            }
        }
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { tables, ranges, next, stop, before, after }
    }

    /// Rows of all tables.
    pub(super) fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    fn take(&self) -> Option<&(usize, Range<u64>)> {
        self.ranges.get(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Stops the threads when the wait for them is given up.
struct StopOnDrop(Arc<Work>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

/// Loads `work` over `jobs` connections; `progress` is told the rows done so far.
pub(super) async fn load_rows<E: Engine>(
    engine: &Arc<E>,
    work: Work,
    jobs: u32,
    mut progress: impl FnMut(u64),
) -> Result<(), LoadError> {
    let work = Arc::new(work);
    let _stop = StopOnDrop(Arc::clone(&work));
    let (tell, mut told) = unbounded_channel();
    let mut threads = Vec::new();
    for job in 1..=jobs {
        threads.push(start(job, Arc::clone(engine), Arc::clone(&work), tell.clone())?);
    }
    // The threads have clones: the channel closes when the last one has ended.
    drop(tell);
    let mut done = 0;
    while let Some(rows) = told.recv().await {
        done += rows;
        progress(done);
    }
    let mut outcome = Ok(());
    for thread in threads {
        let ended = thread.join().unwrap_or_else(|_| Err(LoadError::Thread("it panicked".into())));
        outcome = outcome.and(ended);
    }
    outcome
}

fn start<E: Engine>(
    job: u32,
    engine: Arc<E>,
    work: Arc<Work>,
    tell: UnboundedSender<u64>,
) -> Result<JoinHandle<Result<(), LoadError>>, LoadError> {
    let body = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| LoadError::Thread(error.to_string()))?;
        let ended = tokio::task::LocalSet::new().block_on(&runtime, load(&*engine, &work, &tell));
        if ended.is_err() {
            work.stop.store(true, Ordering::Relaxed);
        }
        ended
    };
    let thread = thread::Builder::new().name(format!("load-{job}")).spawn(body);
    thread.map_err(|error| LoadError::Thread(error.to_string()))
}

/// One connection. A failure leaves no transaction open, which would hold the tables' locks.
async fn load<E: Engine>(
    engine: &E,
    work: &Work,
    tell: &UnboundedSender<u64>,
) -> Result<(), LoadError> {
    let mut admin = engine.admin().await.map_err(LoadError::Connect)?;
    let failed = LoadError::doing;
    run(&mut admin, &work.before).await.map_err(failed("emptying the tables"))?;
    let loaded = load_ranges(&mut admin, work, tell).await;
    if matches!(loaded, Ok(true)) {
        return run(&mut admin, &work.after).await.map_err(failed("committing the load"));
    }
    if !work.before.is_empty() {
        // Fails only with the connection, and then the server does it.
        let _ = admin.batch("rollback").await;
    }
    loaded.map(drop).map_err(failed("loading rows"))
}

/// Takes ranges until there are none (true), or until it is told to stop.
async fn load_ranges<A: Admin>(
    admin: &mut A,
    work: &Work,
    tell: &UnboundedSender<u64>,
) -> Result<bool, DbError> {
    // A send fails only when nobody waits any more, and then `stop` is set as well.
    let done = |rows| {
        let _ = tell.send(rows);
    };
    while let Some((table, range)) = work.take() {
        if work.stopped() {
            return Ok(false);
        }
        admin.load(&work.tables[*table], range.clone(), &done).await?;
    }
    Ok(!work.stopped())
}
