//! Reads a server's counters at every edge of an interval, over a connection of its own.
//!
//! Runs beside the measurement and is never waited for: a server that answers late gives fewer
//! readings, one that is gone none until it is back.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use crate::engine::monitor::Reading;
use crate::engine::{Admin, DbError, Engine, ErrorKind};

/// An edge of the window's intervals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    /// Its number: 0 at the start of the window.
    pub(crate) number: u32,
}

/// What the server said at an edge.
#[derive(Debug)]
pub(crate) struct Sampled {
    /// The edge.
    pub(crate) edge: Edge,
    /// When it was asked.
    pub(crate) asked: Instant,
    /// When it had answered.
    pub(crate) answered: Instant,
    /// The answer; an error is the server's refusal, not its absence.
    pub(crate) reading: Result<Reading, DbError>,
}

/// Reads until no edge can come any more. Edges that pass while the server is busy with its
/// answer have no reading.
pub(crate) async fn monitor<E: Engine>(
    engine: &Arc<E>,
    mut edges: UnboundedReceiver<Edge>,
    readings: UnboundedSender<Sampled>,
) {
    // Before the window, so that its start is met in time.
    let mut admin = engine.admin().await.ok();
    while let Some(mut edge) = edges.recv().await {
        while let Ok(later) = edges.try_recv() {
            edge = later;
        }
        if admin.is_none() {
            admin = engine.admin().await.ok();
        }
        let Some(connected) = &mut admin else { continue };
        let asked = Instant::now();
        let reading = connected.reading().await;
        if let Err(error) = &reading
            && matches!(error.kind(), ErrorKind::Lost | ErrorKind::Connect)
        {
            admin = None;
            continue;
        }
        let _nobody_listens =
            readings.send(Sampled { edge, asked, answered: Instant::now(), reading });
    }
}
