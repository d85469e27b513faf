//! PostgreSQL: login, the prepared statements, and where a reply ends.

use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::{backend, frontend};

use crate::{Address, Failure, Key, Messages, Options};

/// A key as it stands in a message: ten digits, leading zeros included.
const DIGITS: &str = "0000000000";

/// A statement and its parameters: a name and the largest value of each.
type Statement = (&'static str, Vec<(&'static str, u32)>);

/// Writes `number` over ten digits.
pub(crate) fn put(place: &mut [u8], mut number: u32) {
    for digit in place[..DIGITS.len()].iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

/// Whether the last message is ReadyForQuery, which has six bytes and comes alone at the end.
pub(crate) fn is_whole(received: &[u8]) -> Result<bool, Failure> {
    if received[0] == backend::ERROR_RESPONSE_TAG {
        return Err(String::from_utf8_lossy(received).into());
    }
    Ok(received.len() >= 6 && received[received.len() - 6..].starts_with(b"Z\0\0\0\x05"))
}

/// Logs in, prepares, and makes the messages.
pub(crate) fn open(
    stream: &TcpStream,
    address: &Address,
    options: &Options,
) -> Result<Messages, Failure> {
    let mut login = Login { stream, buffer: BytesMut::new() };
    login.log_in(address)?;
    let mut messages = Messages { texts: Vec::new(), keys: Vec::new() };
    for (index, (sql, parameters)) in statements(options)?.into_iter().enumerate() {
        let name = format!("P_{index}");
        let mut out = BytesMut::new();
        frontend::parse(&name, sql, [], &mut out)?;
        frontend::sync(&mut out);
        login.ask(&out)?;
        while login.read()?.0 != backend::READY_FOR_QUERY_TAG {}

        let mut text = BytesMut::new();
        let bound = frontend::bind(
            "",
            &name,
            [],
            &parameters,
            |_, out| {
                out.extend_from_slice(DIGITS.as_bytes());
                Ok(IsNull::No)
            },
            [],
            &mut text,
        );
        bound.map_err(|_| "a message that cannot be made")?;
        let places = text.windows(DIGITS.len()).enumerate();
        let places = places.filter(|(_, bytes)| *bytes == DIGITS.as_bytes()).map(|(at, _)| at);
        for ((name, most), offset) in parameters.iter().zip(places.collect::<Vec<_>>()) {
            messages.keys.push(Key { message: index, offset, most: *most, name });
        }
        frontend::execute("", 0, &mut text)?;
        frontend::sync(&mut text);
        messages.texts.push(text.to_vec());
    }
    // Drawn together, so that the same name is the same number.
    messages.keys.sort_by_key(|key| key.name);
    Ok(messages)
}

/// The statements of a workload, sized.
fn statements(options: &Options) -> Result<Vec<Statement>, Failure> {
    let size = options.size;
    let (aid, tid, bid) = (("aid", 100_000 * size), ("tid", 10 * size), ("bid", size));
    let (delta, id) = (("delta", 5000), ("id", size));
    Ok(match options.workload.as_str() {
        "select-only" => {
            vec![("SELECT abalance FROM pgbench_accounts WHERE aid = $1", vec![aid])]
        }
        "tpcb-like" => vec![
            ("BEGIN", vec![]),
            (
                "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2",
                vec![delta, aid],
            ),
            ("SELECT abalance FROM pgbench_accounts WHERE aid = $1", vec![aid]),
            (
                "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
                vec![delta, tid],
            ),
            (
                "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
                vec![delta, bid],
            ),
            (
                "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                 VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
                vec![tid, bid, aid, delta],
            ),
            ("END", vec![]),
        ],
        "point-select" => vec![("SELECT c FROM sbtest1 WHERE id=$1", vec![id])],
        other => return Err(format!("{other}: no floor for it on PostgreSQL").into()),
    })
}

/// A connection that is being opened.
struct Login<'s> {
    stream: &'s TcpStream,
    buffer: BytesMut,
}

impl Login<'_> {
    fn log_in(&mut self, address: &Address) -> Result<(), Failure> {
        let mut out = BytesMut::new();
        let who = [("user", address.user.as_str()), ("database", &address.database)];
        frontend::startup_message(who, &mut out)?;
        self.ask(&out)?;
        let mut scram = None;
        loop {
            let (tag, body) = self.read()?;
            out.clear();
            match (tag, body.get(..4).unwrap_or_default()) {
                (backend::READY_FOR_QUERY_TAG, _) => return Ok(()),
                (backend::AUTHENTICATION_TAG, [0, 0, 0, 10]) => {
                    let binding = ChannelBinding::unsupported();
                    let proof = ScramSha256::new(address.password.as_bytes(), binding);
                    frontend::sasl_initial_response(SCRAM_SHA_256, proof.message(), &mut out)?;
                    scram = Some(proof);
                }
                (backend::AUTHENTICATION_TAG, [0, 0, 0, 11]) => {
                    let proof = scram.as_mut().ok_or("an answer before the question")?;
                    proof.update(&body[4..])?;
                    frontend::sasl_response(proof.message(), &mut out)?;
                }
                _ => continue,
            }
            self.ask(&out)?;
        }
    }

    fn ask(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// The next message's tag and body.
    fn read(&mut self) -> Result<(u8, Vec<u8>), Failure> {
        loop {
            if let Some(header) = backend::Header::parse(&self.buffer)? {
                let length = usize::try_from(header.len())? + 1;
                if self.buffer.len() >= length {
                    let message = self.buffer.split_to(length);
                    if header.tag() != backend::ERROR_RESPONSE_TAG {
                        return Ok((header.tag(), message[5..].to_vec()));
                    }
                    return Err(error_text(message)?.into());
                }
            }
            let mut piece = [0; 4096];
            let bytes = self.stream.read(&mut piece)?;
            if bytes == 0 {
                return Err("the server hung up".into());
            }
            self.buffer.extend_from_slice(&piece[..bytes]);
        }
    }
}

fn error_text(mut message: BytesMut) -> Result<String, Failure> {
    let Some(backend::Message::ErrorResponse(body)) = backend::Message::parse(&mut message)? else {
        return Ok("an error that cannot be read".into());
    };
    let text = body.fields().find(|field| Ok(field.type_() == b'M'))?;
    Ok(text.map_or_else(String::new, |text| String::from_utf8_lossy(text.value_bytes()).into()))
}
