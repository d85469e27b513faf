//! Serves the counters of what is being measured over HTTP, for Prometheus.
//!
//! One small page for whoever asks: requests are read up to their blank line and answered one
//! after the other, on the conductor's runtime and not on the workers'.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::observe::Place;
use crate::report::prometheus::{Added, Labels, Metrics};
use crate::runner::level::Interval;
use crate::runner::tally::OpenTally;
use crate::stats::histogram::Histogram;

/// A client that takes longer is hung up on: the next one waits.
const PATIENCE: Duration = Duration::from_secs(2);
/// A longer request is none for us.
const LONGEST_REQUEST: usize = 8 * 1024;

/// The counters, and the address that serves them.
#[derive(Debug, Clone)]
pub(crate) struct Exporter {
    metrics: Arc<Mutex<Metrics>>,
    address: SocketAddr,
}

impl Exporter {
    /// Listens at `address` until the program ends.
    pub(crate) async fn listen(address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let exporter = Self { metrics: Arc::default(), address: listener.local_addr()? };
        let metrics = Arc::clone(&exporter.metrics);
        tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => {
                        let text = || lock(&metrics).text();
                        let _hung_up = timeout(PATIENCE, answer(stream, text)).await;
                    }
                    // No file descriptor is free: they come back.
                    Err(_) => tokio::time::sleep(PATIENCE).await,
                }
            }
        });
        Ok(exporter)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds an interval.
    pub(super) fn add(
        &self,
        place: &Place,
        interval: &Interval<'_>,
        tps: f64,
        latency: &Histogram,
        open: Option<&OpenTally>,
    ) {
        let labels = Labels {
            arm: place.arm.clone(),
            workload: place.workload.clone(),
            clients: place.clients,
        };
        let tally = interval.tally;
        let failures = tally.failures().into_iter();
        lock(&self.metrics).add(
            &labels,
            &Added {
                committed: tally.committed(),
                failed: failures.map(|failure| (failure.code, failure.count)).collect(),
                retried: tally.retried(),
                retries: tally.retries(),
                skipped: tally.skipped,
                reconnects: interval.reconnects,
                tps,
                service: Some(latency),
                response: open.map(|open| &open.response),
            },
        );
    }
}

fn lock(metrics: &Mutex<Metrics>) -> std::sync::MutexGuard<'_, Metrics> {
    metrics.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one request and closes the connection.
async fn answer(mut stream: TcpStream, text: impl FnOnce() -> String) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
        if request.len() > LONGEST_REQUEST || stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let line = String::from_utf8_lossy(&request);
    let mut words = line.split_ascii_whitespace();
    let (status, kind, body) = match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics")) => {
            ("200 OK", "text/plain; version=0.0.4; charset=utf-8", text())
        }
        (Some("GET"), _) => {
            ("404 Not Found", "text/plain", "the counters are at /metrics\n".to_owned())
        }
        _ => ("405 Method Not Allowed", "text/plain", "GET /metrics\n".to_owned()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    stream.shutdown().await
}
