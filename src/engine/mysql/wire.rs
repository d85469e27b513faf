//! MySQL's client/server protocol on a connected stream, for the hot path.
//!
//! Commands are encoded into one re-used buffer; replies are scanned in place, not built: column
//! definitions and rows that nobody asked for are passed over by their length. One round trip costs
//! one send, one receive and no allocation. What is kept is decoded by `mysql_common`, the codec of
//! mysql_async, which itself does loading and administration.

use std::sync::Arc;

use mysql_async::ServerError;
use mysql_common::constants::{CapabilityFlags, ColumnType, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, ErrPacket};
use mysql_common::proto::{Binary, Text};
use mysql_common::row::{Row, RowDeserializer};
use mysql_common::value::ServerSide;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::error::{closed, lost, server_error};
use super::session::cells;
use crate::engine::{DbError, ErrorKind, Kept};
use crate::script::program::Slot;
use crate::script::value::Value;

/// Bytes of a client's receive buffer at the start; it grows for a longer packet.
const RECEIVE_BYTES: usize = 8 * 1024;
/// Length (3 bytes) and number (1 byte).
const HEADER_BYTES: usize = 4;
/// A packet of this length is continued by the next one.
const LONGEST_PACKET: usize = 0xFF_FFFF;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;

/// First byte of a reply.
const OK: u8 = 0x00;
const END: u8 = 0xFE;
const ERROR: u8 = 0xFF;

/// A byte stream to a server, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// A statement that the server has prepared on this connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prepared {
    id: u32,
    /// Placeholders in it.
    pub(super) params: u16,
}

/// How the cells of rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Binary,
}

/// A stream that has logged in, with its send and receive buffers.
pub(crate) struct Wire {
    stream: Box<dyn Stream>,
    out: Vec<u8>,
    received: Vec<u8>,
    /// What of `received` is still to be read.
    start: usize,
    end: usize,
    /// Number of the last packet received.
    sequence: u8,
    status: StatusFlags,
    /// A result's columns and rows end with one packet, not two.
    deprecates_eof: bool,
}

impl Wire {
    /// Takes over a stream that waits for a command.
    pub(super) fn new(stream: Box<dyn Stream>, capabilities: CapabilityFlags) -> Self {
        Self {
            stream,
            out: Vec::with_capacity(512),
            received: vec![0; RECEIVE_BYTES],
            start: 0,
            end: 0,
            sequence: 0,
            status: StatusFlags::empty(),
            deprecates_eof: capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF),
        }
    }

    /// Whether the server said, with its last success, that a transaction is open.
    pub(super) fn is_in_transaction(&self) -> bool {
        self.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS)
    }

    /// Prepares a statement.
    pub(super) async fn prepare(&mut self, sql: &str) -> Result<Prepared, DbError> {
        self.command(COM_STMT_PREPARE);
        self.out.extend_from_slice(sql.as_bytes());
        self.send().await?;
        let (at, length) = self.packet().await?;
        if self.received[at] == ERROR {
            return Err(self.error(at, length));
        }
        let number = |from: usize| {
            u16::from_le_bytes([self.received[at + from], self.received[at + from + 1]])
        };
        if length < 12 {
            return Err(broken("a reply to PREPARE that is too short"));
        }
        let id = u32::from_le_bytes(self.received[at + 1..at + 5].try_into().expect("four bytes"));
        let (columns, params) = (number(5), number(7));
        self.pass_definitions(params.into()).await?;
        self.pass_definitions(columns.into()).await?;
        Ok(Prepared { id, params })
    }

    /// Executes a prepared statement with the values of `params`. Returns the rows that it returned
    /// or found.
    pub(super) async fn execute(
        &mut self,
        prepared: Prepared,
        params: &[Slot],
        vars: &[Value],
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        self.command(COM_STMT_EXECUTE);
        self.out.extend_from_slice(&prepared.id.to_le_bytes());
        self.out.push(0); // no cursor
        self.out.extend_from_slice(&1_u32.to_le_bytes()); // one execution
        encode_params(params, vars, &mut self.out);
        self.send().await?;
        self.reply(Format::Binary, keep).await
    }

    /// Tells the server to forget a prepared statement; sent with the next command.
    pub(super) async fn forget(&mut self, prepared: Prepared) -> Result<(), DbError> {
        self.command(COM_STMT_CLOSE);
        self.out.extend_from_slice(&prepared.id.to_le_bytes());
        self.send().await
    }

    /// Executes a text, which may hold several statements. Returns the rows that the last one
    /// returned or found.
    pub(super) async fn query(
        &mut self,
        sql: &str,
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        self.command(COM_QUERY);
        self.out.extend_from_slice(sql.as_bytes());
        self.send().await?;
        self.reply(Format::Text, keep).await
    }

    /// Says goodbye; errors no longer matter.
    pub(super) async fn quit(&mut self) {
        self.command(COM_QUIT);
        // The server notices a closed socket as well.
        let _ = self.send().await;
    }

    /// Begins a command in the send buffer.
    fn command(&mut self, command: u8) {
        self.out.clear();
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
        self.out.push(command);
        self.sequence = u8::MAX;
    }

    /// Sends the command in the buffer.
    async fn send(&mut self) -> Result<(), DbError> {
        let mut number = self.sequence.wrapping_add(1);
        let mut from = 0;
        while self.out.len() - HEADER_BYTES - from >= LONGEST_PACKET {
            self.frame(from, LONGEST_PACKET, number);
            number = number.wrapping_add(1);
            from += HEADER_BYTES + LONGEST_PACKET;
            // The next header goes between; only a text of 16 MiB comes here.
            self.out.splice(from..from, [0; HEADER_BYTES]);
        }
        self.frame(from, self.out.len() - HEADER_BYTES - from, number);
        self.stream.write_all(&self.out).await.map_err(|error| lost(&error))?;
        self.stream.flush().await.map_err(|error| lost(&error))
    }

    fn frame(&mut self, at: usize, length: usize, number: u8) {
        #[expect(clippy::cast_possible_truncation, reason = "at most 24 bits, by the caller")]
        let length = (length as u32).to_le_bytes();
        self.out[at..at + 3].copy_from_slice(&length[..3]);
        self.out[at + 3] = number;
    }

    /// Reads the reply to a command to its end.
    async fn reply(
        &mut self,
        format: Format,
        mut keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        loop {
            let (at, length) = self.packet().await?;
            let rows = match self.received[at] {
                OK => {
                    let rows = self.success(at, length)?;
                    if let Some(keep) = keep.as_deref_mut() {
                        keep.push(Kept::default());
                    }
                    rows
                }
                ERROR => return Err(self.error(at, length)),
                _ => {
                    let (columns, _) = lenenc(&self.received[at..at + length])?;
                    self.result(columns, format, keep.as_deref_mut()).await?
                }
            };
            if !self.status.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS) {
                return Ok(rows);
            }
        }
    }

    /// Column definitions and rows; returns the number of rows.
    async fn result(
        &mut self,
        columns: u64,
        format: Format,
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let mut kept = Vec::new();
        for _ in 0..columns {
            let (at, length) = self.packet().await?;
            if keep.is_some() {
                kept.push(self.column(at, length)?);
            }
        }
        if !self.deprecates_eof {
            self.packet().await?;
        }
        // Empty where nothing is kept; a statement costs no allocation then.
        let columns = (!kept.is_empty()).then(|| Arc::<[Column]>::from(kept));
        let (mut rows, mut last, mut continued) = (0, None, false);
        loop {
            let (at, length) = self.packet().await?;
            let first = self.received.get(at).copied().filter(|_| length > 0);
            match first {
                // The rest of a row that did not fit into one packet.
                _ if continued => {}
                Some(ERROR) => return Err(self.error(at, length)),
                Some(END) if length < LONGEST_PACKET => {
                    self.ended(at, length)?;
                    break;
                }
                _ => {
                    rows += 1;
                    if let Some(columns) = &columns {
                        last = Some(self.row(at, length, format, columns)?);
                    }
                }
            }
            continued = length == LONGEST_PACKET;
        }
        if let Some(keep) = keep {
            keep.push(Kept {
                rows,
                returns_rows: true,
                columns: columns
                    .iter()
                    .flat_map(|columns| columns.iter())
                    .map(|column| column.name_str().into_owned())
                    .collect(),
                last: last.map(cells).unwrap_or_default(),
            });
        }
        Ok(rows)
    }

    fn column(&self, at: usize, length: usize) -> Result<Column, DbError> {
        ParseBuf(&self.received[at..at + length]).parse(()).map_err(|error| lost(&error))
    }

    fn row(
        &self,
        at: usize,
        length: usize,
        format: Format,
        columns: &Arc<[Column]>,
    ) -> Result<Row, DbError> {
        let mut packet = ParseBuf(&self.received[at..at + length]);
        let columns = Arc::clone(columns);
        let row = match format {
            Format::Text => {
                packet.parse::<RowDeserializer<ServerSide, Text>>(columns).map(Row::from)
            }
            Format::Binary => {
                packet.parse::<RowDeserializer<ServerSide, Binary>>(columns).map(Row::from)
            }
        };
        row.map_err(|error| lost(&error))
    }

    /// Takes in an OK packet; returns the rows that were found.
    fn success(&mut self, at: usize, length: usize) -> Result<u64, DbError> {
        let packet = &self.received[at..at + length];
        let (rows, used) = lenenc(&packet[1..])?;
        let (_, more) = lenenc(packet.get(1 + used..).unwrap_or_default())?;
        let flags = packet.get(1 + used + more..3 + used + more);
        let flags = flags.ok_or_else(|| broken("a success without flags"))?;
        self.status = StatusFlags::from_bits_truncate(u16::from_le_bytes([flags[0], flags[1]]));
        Ok(rows)
    }

    /// Takes in the packet after the last row.
    fn ended(&mut self, at: usize, length: usize) -> Result<(), DbError> {
        if self.deprecates_eof {
            return self.success(at, length).map(drop);
        }
        let flags = self.received[at..at + length].get(3..5);
        let flags = flags.ok_or_else(|| broken("an end of rows without flags"))?;
        self.status = StatusFlags::from_bits_truncate(u16::from_le_bytes([flags[0], flags[1]]));
        Ok(())
    }

    fn error(&self, at: usize, length: usize) -> DbError {
        let capabilities = CapabilityFlags::CLIENT_PROTOCOL_41;
        match ParseBuf(&self.received[at..at + length]).parse::<ErrPacket<'_>>(capabilities) {
            Ok(ErrPacket::Error(error)) => {
                let state = error.sql_state_ref().map(|state| state.as_str().into_owned());
                server_error(&ServerError {
                    code: error.error_code(),
                    message: error.message_str().into_owned(),
                    state: state.unwrap_or_default(),
                })
            }
            _ => broken("an error that cannot be read"),
        }
    }

    /// Passes over what describes `count` parameters or columns.
    async fn pass_definitions(&mut self, count: u64) -> Result<(), DbError> {
        for _ in 0..count {
            self.packet().await?;
        }
        if count > 0 && !self.deprecates_eof {
            self.packet().await?;
        }
        Ok(())
    }

    /// Place and length of the next packet in the buffer, its header passed.
    async fn packet(&mut self) -> Result<(usize, usize), DbError> {
        while self.end - self.start < HEADER_BYTES {
            self.receive(HEADER_BYTES).await?;
        }
        let header = &self.received[self.start..self.start + HEADER_BYTES];
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        self.sequence = header[3];
        while self.end - self.start < HEADER_BYTES + length {
            self.receive(HEADER_BYTES + length).await?;
        }
        let at = self.start + HEADER_BYTES;
        self.start = at + length;
        Ok((at, length))
    }

    /// Receives at least one more byte, with room for `wanted` from `start` on.
    async fn receive(&mut self, wanted: usize) -> Result<(), DbError> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.start + wanted > self.received.len() {
            self.received.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.received.len() < wanted {
            self.received.resize(wanted, 0);
        }
        match self.stream.read(&mut self.received[self.end..]).await {
            Ok(0) => Err(closed()),
            Ok(bytes) => {
                self.end += bytes;
                Ok(())
            }
            Err(error) => Err(lost(&error)),
        }
    }
}

/// The values of parameters as COM_STMT_EXECUTE takes them. Text stays text, whatever it holds: the
/// server compares it with a number as a number, and with a text column by its index.
fn encode_params(params: &[Slot], vars: &[Value], out: &mut Vec<u8>) {
    if params.is_empty() {
        return;
    }
    let nulls = out.len();
    out.resize(nulls + params.len().div_ceil(8), 0);
    out.push(1); // types follow
    let types = out.len();
    out.resize(types + 2 * params.len(), 0);
    for (index, slot) in params.iter().enumerate() {
        let kind = match &vars[slot.0 as usize] {
            Value::Undefined | Value::Null => {
                out[nulls + index / 8] |= 1 << (index % 8);
                ColumnType::MYSQL_TYPE_NULL
            }
            Value::Bool(truth) => {
                out.extend_from_slice(&i64::from(*truth).to_le_bytes());
                ColumnType::MYSQL_TYPE_LONGLONG
            }
            Value::Int(int) => {
                out.extend_from_slice(&int.to_le_bytes());
                ColumnType::MYSQL_TYPE_LONGLONG
            }
            Value::Double(double) => {
                out.extend_from_slice(&double.to_le_bytes());
                ColumnType::MYSQL_TYPE_DOUBLE
            }
            Value::Text(text) => {
                put_lenenc(text.len(), out);
                out.extend_from_slice(text.as_bytes());
                ColumnType::MYSQL_TYPE_VAR_STRING
            }
        };
        out[types + 2 * index] = kind as u8;
    }
}

/// A length-encoded integer: 1, 3, 4 or 9 bytes.
fn put_lenenc(value: usize, out: &mut Vec<u8>) {
    let bytes = (value as u64).to_le_bytes();
    let (mark, used) = match value {
        0..=250 => (None, 1),
        251..=0xFFFF => (Some(0xFC), 2),
        0x1_0000..=0xFF_FFFF => (Some(0xFD), 3),
        _ => (Some(0xFE), 8),
    };
    out.extend(mark);
    out.extend_from_slice(&bytes[..used]);
}

/// Reads a length-encoded integer; also how many bytes it takes.
fn lenenc(bytes: &[u8]) -> Result<(u64, usize), DbError> {
    let used = match bytes.first() {
        Some(small @ 0..=250) => return Ok((u64::from(*small), 1)),
        Some(0xFC) => 2,
        Some(0xFD) => 3,
        Some(0xFE) => 8,
        _ => return Err(broken("a number that is none")),
    };
    let mut value = [0; 8];
    let digits = bytes.get(1..=used).ok_or_else(|| broken("a number that is cut off"))?;
    value[..used].copy_from_slice(digits);
    Ok((u64::from_le_bytes(value), 1 + used))
}

/// The server said something that is not in the protocol.
fn broken(what: &str) -> DbError {
    let text = format!("the connection to the server broke: the server sent {what}");
    DbError::new(ErrorKind::Lost, "", text)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn numbers_of_every_length_are_read_as_they_were_written() {
        for value in [0, 1, 250, 251, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, usize::MAX >> 1] {
            let mut bytes = Vec::new();
            put_lenenc(value, &mut bytes);
            assert_eq!(lenenc(&bytes).unwrap(), (value as u64, bytes.len()));
            assert!(lenenc(&bytes[..bytes.len() - 1]).is_err(), "{value} cut off");
        }
        assert!(lenenc(&[0xFB]).is_err(), "NULL is no number");
    }

    #[test]
    fn parameters_are_a_map_of_nulls_then_types_then_values() {
        let vars = [Value::Int(-2), Value::Null, Value::Text("ab".into())];
        let params = [Slot(0), Slot(1), Slot(2)];
        let mut out = Vec::new();
        encode_params(&params, &vars, &mut out);
        let expected = [&[0b010, 1][..], &[8, 0, 6, 0, 253, 0], &(-2_i64).to_le_bytes(), b"\x02ab"];
        assert_eq!(out, expected.concat());
    }

    /// A wire whose server says `replies`; what was sent is lost.
    fn answered(replies: &[&[u8]]) -> Wire {
        let mut bytes = Vec::new();
        for (number, reply) in replies.iter().enumerate() {
            let length = u32::try_from(reply.len()).unwrap().to_le_bytes();
            bytes.extend_from_slice(&length[..3]);
            bytes.push(u8::try_from(number + 1).unwrap());
            bytes.extend_from_slice(reply);
        }
        let stream = tokio::io::join(io::Cursor::new(bytes), tokio::io::sink());
        Wire::new(Box::new(stream), CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }

    #[tokio::test]
    async fn a_success_tells_the_rows_and_whether_a_transaction_is_open() {
        let mut wire =
            answered(&[b"\x00\x03\x00\x03\x00\x00\x00", b"\x00\x00\x00\x02\x00\x00\x00"]);
        assert_eq!(wire.query("x", None).await.unwrap(), 3);
        assert!(wire.is_in_transaction());
        assert_eq!(wire.query("x", None).await.unwrap(), 0);
        assert!(!wire.is_in_transaction());
    }

    #[tokio::test]
    async fn rows_are_counted_up_to_the_end_and_further_results_are_read() {
        let end = b"\xfe\x00\x00\x0a\x00\x00\x00";
        let mut wire = answered(&[
            &[1],
            b"a definition",
            b"\x01x",
            b"\xfb",
            end, // more results follow
            b"\x00\x07\x00\x02\x00\x00\x00",
        ]);
        assert_eq!(wire.query("x", None).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_server_that_ends_or_speaks_nonsense_is_lost() {
        for replies in [&[][..], &[&[0x00, 0xFC][..]], &[&[0xFB + 1][..]], &[&[1][..]]] {
            let error = answered(replies).query("x", None).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Lost, "{error}");
        }
    }
}
