//! The floor: what one transaction costs a client that does nothing but send and receive.
//!
//!     cargo bench --bench floor -- --target postgres://U:P@H:P/D --clients 8 --transactions 100000
//!
//! N connections, one thread, one epoll; messages made before the clock starts and sent again and
//! again with other keys written over the old ones: no script, no statistics, no clock. The
//! statements are those of the workload, prepared, and a reply is looked at only as far as is needed
//! to know that it is whole. Client CPU of dbload divided by this one's is what the rest of dbload
//! costs. Prints transactions per second; `scripts/bench` measures the CPU from outside.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program of its own, without a runtime"
)]

mod mysql;
mod postgres;

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use mio::{Events, Interest, Poll, Token};

pub(crate) type Failure = Box<dyn std::error::Error>;

/// A transaction's messages, one for each round trip, and the places of their keys.
pub(crate) struct Messages {
    pub(crate) texts: Vec<Vec<u8>>,
    pub(crate) keys: Vec<Key>,
}

/// A number that is another one in every transaction.
pub(crate) struct Key {
    pub(crate) message: usize,
    pub(crate) offset: usize,
    /// Values are 1 to this.
    pub(crate) most: u32,
    /// Keys of the same name are the same number.
    pub(crate) name: &'static str,
}

/// What is asked on the command line.
pub(crate) struct Options {
    target: String,
    /// `select-only`, `tpcb-like`, `point-select` or `write-only`.
    pub(crate) workload: String,
    clients: usize,
    transactions: u64,
    /// Scale of TPC-B-like tables, rows of sysbench's.
    pub(crate) size: u32,
}

/// A target's parts.
pub(crate) struct Address {
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) host: String,
    pub(crate) database: String,
}

/// A protocol: how many of the received bytes make a whole reply, if they do.
type IsWhole = fn(&[u8]) -> Result<bool, Failure>;
/// A protocol: writes a number at the start of a place.
type Put = fn(&mut [u8], u32);

struct Client {
    stream: mio::net::TcpStream,
    messages: Messages,
    /// The message whose reply is waited for.
    at: usize,
    left: u64,
    received: Vec<u8>,
    held: usize,
}

fn main() {
    if let Err(error) = run() {
        eprintln!("floor: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Failure> {
    let options = options()?;
    let address = address(&options.target)?;
    let is_postgres = options.target.starts_with("postgres");
    let (is_whole, put): (IsWhole, Put) = if is_postgres {
        (postgres::is_whole, postgres::put)
    } else {
        (mysql::is_whole, mysql::put)
    };
    let each = options.transactions / options.clients as u64;
    let mut clients = Vec::new();
    for _ in 0..options.clients {
        let stream = TcpStream::connect(&address.host)?;
        stream.set_nodelay(true)?;
        let messages = if is_postgres {
            postgres::open(&stream, &address, &options)?
        } else {
            mysql::open(&stream, &address, &options)?
        };
        stream.set_nonblocking(true)?;
        let stream = mio::net::TcpStream::from_std(stream);
        let received = vec![0; 8192];
        clients.push(Client { stream, messages, at: 0, left: each, received, held: 0 });
    }
    let start = Instant::now();
    drive(&mut clients, is_whole, put)?;
    let done = each * options.clients as u64;
    println!("tps = {:.1}", done as f64 / start.elapsed().as_secs_f64());
    Ok(())
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        target: String::new(),
        workload: "select-only".into(),
        clients: 8,
        transactions: 100_000,
        size: 50,
    };
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        match word.as_str() {
            "--target" => options.target = value,
            "--workload" => options.workload = value,
            "--clients" => options.clients = value.parse()?,
            "--transactions" => options.transactions = value.parse()?,
            "--size" => options.size = value.parse()?,
            _ => return Err(format!("{word} is not an option").into()),
        }
    }
    if options.target.is_empty() {
        return Err(
            "give --target postgres://... or mysql://..., with the workload's tables".into()
        );
    }
    Ok(options)
}

/// `SCHEME://USER[:PASSWORD]@HOST:PORT/DATABASE`, nothing encoded.
fn address(target: &str) -> Result<Address, Failure> {
    let parts = target.split_once("://").and_then(|(_, rest)| {
        let (login, place) = rest.rsplit_once('@')?;
        let (host, database) = place.split_once('/')?;
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        Some((user, password, host, database))
    });
    let Some((user, password, host, database)) = parts else {
        return Err(format!("{target}: not SCHEME://USER:PASSWORD@HOST:PORT/DATABASE").into());
    };
    Ok(Address {
        user: user.into(),
        password: password.into(),
        host: host.into(),
        database: database.split('?').next().unwrap_or_default().into(),
    })
}

/// Runs all clients to their last transaction.
fn drive(clients: &mut [Client], is_whole: IsWhole, put: Put) -> Result<(), Failure> {
    let mut poll = Poll::new()?;
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for (index, client) in clients.iter_mut().enumerate() {
        poll.registry().register(&mut client.stream, Token(index), Interest::READABLE)?;
        client.draw(&mut random, put);
        client.send()?;
    }
    let mut running = clients.len();
    let mut events = Events::with_capacity(1024);
    while running > 0 {
        poll.poll(&mut events, None)?;
        for event in &events {
            let client = &mut clients[event.token().0];
            if !client.receive(is_whole)? {
                continue;
            }
            client.at += 1;
            if client.at == client.messages.texts.len() {
                client.at = 0;
                client.left -= 1;
                if client.left == 0 {
                    running -= 1;
                    continue;
                }
                client.draw(&mut random, put);
            }
            client.send()?;
        }
    }
    Ok(())
}

impl Client {
    /// Other keys for the next transaction.
    fn draw(&mut self, random: &mut u64, put: Put) {
        let mut last = ("", 0);
        for key in &self.messages.keys {
            if last.0 != key.name {
                // xorshift64
                *random ^= *random << 13;
                *random ^= *random >> 7;
                *random ^= *random << 17;
                let high = u32::try_from(*random >> 32).unwrap_or_default();
                last = (key.name, high % key.most + 1);
            }
            put(&mut self.messages.texts[key.message][key.offset..], last.1);
        }
    }

    fn send(&mut self) -> io::Result<()> {
        // A message is far shorter than the socket's buffer.
        self.stream.write_all(&self.messages.texts[self.at])
    }

    /// Receives once; whether the reply is whole.
    fn receive(&mut self, is_whole: IsWhole) -> Result<bool, Failure> {
        match self.stream.read(&mut self.received[self.held..]) {
            Ok(0) => return Err("the server hung up".into()),
            Ok(bytes) => self.held += bytes,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let whole = is_whole(&self.received[..self.held])?;
        if whole {
            self.held = 0;
        }
        Ok(whole)
    }
}
