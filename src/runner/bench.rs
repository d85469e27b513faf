//! For `benches/hot_path.rs`: the recording of transactions as the client loop does it, without a
//! database.

use std::time::Duration;

use tokio::time::Instant;

use super::ClientId;
use super::recorder::{Outcome, Recorder, Sample, StatementSample, Window};
use super::tally::{Shape, Tally};
use crate::script::program::StmtId;

/// A worker's recorder in an open window, and the next transaction to record.
#[derive(Debug)]
pub struct Recording {
    recorder: Recorder,
    statements: Vec<StatementSample>,
    open_loop: bool,
    last: Instant,
}

impl Recording {
    /// Transactions of so many statements; with `open_loop` response and lag are recorded, too.
    pub fn new(statements: u32, open_loop: bool) -> Self {
        let shape = Shape {
            scripts: 1,
            statements: statements as usize,
            acquiring: false,
            open_loop,
            latency_limit: None,
        };
        let recorder = Recorder::new(&Tally::new(shape));
        let start = Instant::now();
        recorder.begin(Window { start, end: None, interval: Duration::from_secs(1) });
        let sample = |number| StatementSample { stmt: StmtId(number), service_ns: 0, rows: 1 };
        Self { recorder, statements: (0..statements).map(sample).collect(), open_loop, last: start }
    }

    /// Records a committed transaction of `service_ns` and asks for the start of the next one.
    pub fn record(&mut self, service_ns: u64) {
        for (statement, part) in self.statements.iter_mut().zip(1..) {
            statement.service_ns = service_ns / part;
        }
        let start = self.last.checked_sub(Duration::from_nanos(service_ns)).unwrap_or(self.last);
        let waited = Duration::from_nanos(if self.open_loop { service_ns } else { 0 });
        let sample = Sample {
            client: ClientId(0),
            script: 0,
            intended: start.checked_sub(waited).unwrap_or(start),
            start,
            acquiring: None,
            outcome: Outcome::Committed,
            retried_at: &[],
            statements: &self.statements,
        };
        self.last = self.recorder.finish(&sample, true).unwrap_or(self.last);
    }

    /// Transactions recorded in the intervals that are over; takes them as the conductor does.
    pub fn collect(&self) -> u64 {
        let mut committed = 0;
        self.recorder.collect(0, |_, tally| committed += tally.committed());
        committed
    }
}
