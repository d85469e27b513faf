//! MySQL and MariaDB: login with a password's hash, the prepared statements, where a reply ends.

use std::io::{Read, Write};
use std::net::TcpStream;

use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, HandshakePacket, HandshakeResponse};
use mysql_common::proto::MySerialize;

use crate::{Address, Failure, Key, Messages, Options};

/// Number of parameters' types: a 32-bit number, and a text.
const LONG: u8 = 0x03;
const VAR_STRING: u8 = 0xFD;

/// A parameter of a statement.
#[derive(Clone, Copy)]
enum Parameter {
    /// A key: its name and its largest value.
    Key(&'static str, u32),
    /// A text of so many bytes, always the same.
    Text(usize),
}

/// Writes `number` over four bytes.
pub(crate) fn put(place: &mut [u8], number: u32) {
    place[..4].copy_from_slice(&number.to_le_bytes());
}

/// Whether the reply ends here: an OK, or the packet after a result's last row.
pub(crate) fn is_whole(received: &[u8]) -> Result<bool, Failure> {
    let mut at = 0;
    while let Some(header) = received.get(at..at + 4) {
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let Some(packet) = received.get(at + 4..at + 4 + length) else { return Ok(false) };
        match (packet.first(), at) {
            (Some(0xFF), 0) => return Err(String::from_utf8_lossy(packet).into()),
            (Some(0x00), 0) | (Some(0xFE), 1..) => return Ok(true),
            _ => at += 4 + length,
        }
    }
    Ok(false)
}

/// Logs in, prepares, and makes the messages.
pub(crate) fn open(
    stream: &TcpStream,
    address: &Address,
    options: &Options,
) -> Result<Messages, Failure> {
    log_in(stream, address)?;
    let mut messages = Messages { texts: Vec::new(), keys: Vec::new() };
    for (sql, parameters) in statements(options)? {
        if parameters.is_empty() {
            // BEGIN and COMMIT go as text, as every client sends them.
            messages.texts.push(packet(0, &[&[0x03], sql.as_bytes()].concat()));
            continue;
        }
        send(stream, 0, &[&[0x16], sql.as_bytes()].concat())?;
        let answer = read(stream)?.1;
        let count = |at: usize| u16::from_le_bytes([answer[at], answer[at + 1]]);
        for _ in 0..count(5) + count(7) {
            read(stream)?;
        }
        let mut body = vec![0x17];
        body.extend_from_slice(&answer[1..5]);
        body.extend_from_slice(&[0, 1, 0, 0, 0]); // no cursor, one execution
        body.resize(body.len() + parameters.len().div_ceil(8), 0); // no nulls
        body.push(1); // the types follow
        for parameter in &parameters {
            let kind = if matches!(parameter, Parameter::Key(..)) { LONG } else { VAR_STRING };
            body.extend_from_slice(&[kind, 0]);
        }
        for parameter in parameters {
            match parameter {
                Parameter::Key(name, most) => {
                    let (message, offset) = (messages.texts.len(), 4 + body.len());
                    messages.keys.push(Key { message, offset, most, name });
                    body.extend_from_slice(&[0; 4]);
                }
                Parameter::Text(length) => {
                    body.push(u8::try_from(length)?);
                    body.resize(body.len() + length, b'7');
                }
            }
        }
        messages.texts.push(packet(0, &body));
    }
    messages.keys.sort_by_key(|key| key.name);
    Ok(messages)
}

/// The statements of a workload, sized; those without parameters go as text.
fn statements(options: &Options) -> Result<Vec<(&'static str, Vec<Parameter>)>, Failure> {
    let key = |name| Parameter::Key(name, options.size);
    let (c, pad) = (Parameter::Text(119), Parameter::Text(59));
    Ok(match options.workload.as_str() {
        "point-select" => vec![("SELECT c FROM sbtest1 WHERE id=?", vec![key("id")])],
        "write-only" => vec![
            ("BEGIN", vec![]),
            ("UPDATE sbtest1 SET k=k+1 WHERE id=?", vec![key("first")]),
            ("UPDATE sbtest1 SET c=? WHERE id=?", vec![c, key("second")]),
            ("DELETE FROM sbtest1 WHERE id=?", vec![key("third")]),
            (
                "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)",
                vec![key("third"), key("other"), c, pad],
            ),
            ("COMMIT", vec![]),
        ],
        other => return Err(format!("{other}: no floor for it on MySQL").into()),
    })
}

fn log_in(stream: &TcpStream, address: &Address) -> Result<(), Failure> {
    let (sequence, greeting) = read(stream)?;
    let greeting: HandshakePacket<'_> = ParseBuf(&greeting).parse(())?;
    let plugin = AuthPlugin::MysqlNativePassword;
    let proof = plugin.gen_data(Some(&address.password), &greeting.nonce());
    let capabilities = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_CONNECT_WITH_DB
        | CapabilityFlags::CLIENT_DEPRECATE_EOF;
    let response = HandshakeResponse::new(
        proof.as_deref(),
        (10, 11, 0),
        Some(address.user.as_bytes()),
        Some(address.database.as_bytes()),
        Some(plugin),
        capabilities & greeting.capabilities(),
        None,
        1 << 24,
    );
    let mut bytes = Vec::new();
    response.serialize(&mut bytes);
    send(stream, sequence + 1, &bytes)?;
    match read(stream)?.1.first() {
        Some(0x00) => Ok(()),
        _ => Err("the login was refused, or wants another way than a native password".into()),
    }
}

fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or_default().to_le_bytes();
    [&[length[0], length[1], length[2], sequence], body].concat()
}

fn send(mut stream: &TcpStream, sequence: u8, body: &[u8]) -> Result<(), Failure> {
    Ok(stream.write_all(&packet(sequence, body))?)
}

/// A packet's number and body; an error packet is an error.
fn read(mut stream: &TcpStream) -> Result<(u8, Vec<u8>), Failure> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body)?;
    if body.first() == Some(&0xFF) {
        return Err(String::from_utf8_lossy(&body).into());
    }
    Ok((header[3], body))
}
