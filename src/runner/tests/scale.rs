//! Five thousand clients on one worker, against a server on loopback that answers at once: memory of a
//! client, and fairness between clients, as counts. Times are printed, never asserted.
//!
//! The server speaks as much of PostgreSQL's protocol as a prepared statement needs. It stands in
//! for a real one only because no real one here takes so many sessions; what is under test is
//! dbload's own side.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::super::crew::Launch;
use super::super::level::{Interval, Observer, measure};
use super::super::limits::allow_files;
use super::super::{Length, Level};
use super::{settings, workload};
use crate::engine::postgres::Postgres;
use crate::engine::postgres::connect::Connector;
use crate::target::{Env, Target, TargetArgs};

const CLIENTS: u32 = 5_000;

/// Transactions of each connection.
type Served = Arc<Mutex<Vec<Arc<AtomicU64>>>>;

/// Answers one session until it ends.
async fn serve(mut stream: TcpStream, served: Arc<AtomicU64>) -> std::io::Result<()> {
    let mut startup = [0; 8];
    stream.read_exact(&mut startup).await?;
    let length = u32::from_be_bytes(startup[..4].try_into().unwrap()) as usize;
    stream.read_exact(&mut vec![0; length - startup.len()]).await?;
    // AuthenticationOk, BackendKeyData, ReadyForQuery.
    stream.write_all(b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x01Z\0\0\0\x05I").await?;
    let (mut buffer, mut filled) = (vec![0; 512], 0);
    let mut answer = Vec::with_capacity(128);
    loop {
        filled += match stream.read(&mut buffer[filled..]).await? {
            0 => return Ok(()),
            read => read,
        };
        let mut at = 0;
        while let Some(header) = buffer[..filled].get(at..at + 5) {
            let length = 1 + u32::from_be_bytes(header[1..].try_into().unwrap()) as usize;
            if filled < at + length {
                break;
            }
            match header[0] {
                b'P' => answer.extend(b"1\0\0\0\x04"),
                b'B' => answer.extend(b"2\0\0\0\x04"),
                b'E' => {
                    answer.extend(b"D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\rSELECT 1\0");
                    served.fetch_add(1, Ordering::Relaxed);
                }
                b'S' => answer.extend(b"Z\0\0\0\x05I"),
                b'X' => return Ok(()),
                other => panic!("message {other} is not one of a prepared statement"),
            }
            at += length;
        }
        buffer.copy_within(at..filled, 0);
        filled -= at;
        stream.write_all(&answer).await?;
        answer.clear();
    }
}

/// Starts the server on a thread of its own; its port, and what it has served.
fn start_server() -> (u16, Served) {
    let served = Served::default();
    let counts = Arc::clone(&served);
    let (port, started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            port.send(listener.local_addr().unwrap().port()).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                let count = Arc::new(AtomicU64::new(0));
                counts.lock().unwrap().push(Arc::clone(&count));
                tokio::spawn(serve(stream, count));
            }
        });
    });
    (started.recv().unwrap(), served)
}

fn engine(port: u16) -> Arc<Postgres> {
    let url = format!("postgres://u@127.0.0.1:{port}/d?sslmode=disable");
    let args = TargetArgs { targets: vec![url], ..TargetArgs::default() };
    let Target::Postgres(target) = args.resolve(&Env::default()).unwrap().remove(0).target else {
        panic!("the URL is PostgreSQL's");
    };
    Arc::new(Postgres::new(Connector::new(target).unwrap()))
}

/// Resident memory of this process, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// What is looked at when the window begins and ends.
struct Look {
    served: Served,
    connecting: Duration,
    resident_kib: u64,
    first: Vec<u64>,
    last: Vec<u64>,
}

impl Look {
    fn counts(&self) -> Vec<u64> {
        let served = self.served.lock().unwrap();
        served.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }
}

impl Observer for Look {
    fn started(&mut self, connecting: Duration) {
        self.connecting = connecting;
        self.resident_kib = resident_kib();
    }
    fn warming(&mut self, _elapsed: Duration, _tps: f64) {}
    fn window(&mut self, _: std::time::SystemTime) {}
    fn edge(&mut self, _: Duration) {}
    fn interval(&mut self, _interval: &Interval<'_>) {
        self.last = self.counts();
        if self.first.is_empty() {
            self.first.clone_from(&self.last);
        }
    }
}

#[test]
#[ignore = "takes both processors for a quarter of a minute: scripts/test runs it alone"]
fn thousands_of_clients_cost_little_and_get_equal_shares() {
    // A socket at either end; `allow_files` reckons with a timer beside dbload's.
    allow_files::<Postgres>(CLIENTS + CLIENTS / 2, 1).unwrap();
    let (port, served) = start_server();
    let before_kib = resident_kib();
    let mut look = Look {
        served,
        connecting: Duration::ZERO,
        resident_kib: 0,
        first: Vec::new(),
        last: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(async {
        let (_interrupt, never) = watch::channel(false);
        let level = Level::new(
            workload("SELECT 1;"),
            settings(CLIENTS, Length::Duration(Duration::from_secs(11))),
        );
        measure(&engine(port), level, Launch::Threads, never, &mut look).await
    });
    let outcome = outcome.unwrap();
    assert!(outcome.adds_up() && outcome.lost.is_empty());

    // The server's own sessions, about 1 KiB each, are in it too.
    let client_kib = (look.resident_kib - before_kib) / u64::from(CLIENTS);
    let shares: Vec<u64> =
        look.last.iter().zip(&look.first).map(|(last, first)| last - first).collect();
    let (mean, slowest) = (shares.iter().sum::<u64>() / u64::from(CLIENTS), shares.iter().min());
    println!(
        "connected in {:.1} s, {client_kib} KiB a client, {mean} transactions on average, {slowest:?} \
         of the slowest client",
        look.connecting.as_secs_f64()
    );
    assert_eq!(shares.len(), CLIENTS as usize);
    assert!(client_kib <= 64, "{client_kib} KiB a client");
    assert!(2 * slowest.unwrap() >= mean, "{slowest:?} of {mean}");
}
