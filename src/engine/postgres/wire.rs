//! PostgreSQL's frontend/backend protocol on a connected stream, for the hot path.
//!
//! Messages are encoded into one re-used buffer by `postgres-protocol`, the codec of tokio-postgres;
//! replies are scanned in place, not built: what nobody asked for is skipped by its length. One
//! round trip costs one send, one receive and no allocation. Connecting, loading and administration
//! go through tokio-postgres itself; this module starts where its handshake ends.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::{backend, frontend};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use super::error::{lost, server_error, unsendable};
use crate::engine::{Block, DbError, Kept};

/// Bytes of a client's receive buffer at the start; it grows only for a kept row or an error text
/// that is longer.
const RECEIVE_BYTES: usize = 8 * 1024;
/// Tag (1 byte) and length (4 bytes).
const HEADER_BYTES: usize = 5;

/// A stream with its send and receive buffers.
pub(crate) struct Wire<S> {
    stream: S,
    /// Messages that the next `round_trip` sends.
    pub(crate) out: BytesMut,
    received: Vec<u8>,
    /// What of `received` is still to be read.
    start: usize,
    end: usize,
    block: Block,
}

/// What the replies up to the next ReadyForQuery add up to.
#[derive(Debug, Default)]
struct Reply {
    rows: u64,
    error: Option<DbError>,
    /// Row of the statement that is being read, when rows are kept.
    current: Kept,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Takes over a stream whose last message was ReadyForQuery outside any block. `unread` is
    /// what the server sent after it.
    pub(crate) fn new(stream: S, unread: &[u8]) -> Self {
        let mut received = vec![0; RECEIVE_BYTES.max(unread.len())];
        received[..unread.len()].copy_from_slice(unread);
        Self {
            stream,
            out: BytesMut::with_capacity(512),
            received,
            start: 0,
            end: unread.len(),
            block: Block::Idle,
        }
    }

    /// The transaction block as of the last ReadyForQuery.
    pub(crate) fn block(&self) -> Block {
        self.block
    }

    /// Sends what `out` holds and reads up to the ReadyForQuery that answers it. Returns the rows
    /// that the last statement returned or changed, or the first error.
    pub(crate) async fn round_trip(
        &mut self,
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<u64, DbError> {
        let simple = self.out.first() == Some(&b'Q');
        self.send().await?;
        self.reply(simple, keep, None).await
    }

    /// Runs a text, which may hold several statements.
    pub(crate) async fn query(&mut self, sql: &str) -> Result<(), DbError> {
        frontend::query(sql, &mut self.out).map_err(|error| unsendable(&error))?;
        self.round_trip(None).await.map(drop)
    }

    /// Sends what `out` holds. While the server does not take it, its replies are received: a long
    /// pipeline would otherwise fill both directions and stand still.
    pub(crate) async fn send(&mut self) -> Result<(), DbError> {
        let Self { stream, out, received, start, end, .. } = self;
        let mut sent = 0;
        let sending = std::future::poll_fn(|cx| {
            while sent < out.len() {
                match Pin::new(&mut *stream).poll_write(cx, &out[sent..]) {
                    Poll::Ready(Ok(0)) => {
                        return Poll::Ready(Err(io::Error::from(io::ErrorKind::WriteZero)));
                    }
                    Poll::Ready(Ok(bytes)) => sent += bytes,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => ready!(receive_meanwhile(stream, received, *start, end, cx))?,
                }
            }
            Pin::new(&mut *stream).poll_flush(cx)
        });
        let sent = sending.await;
        self.out.clear();
        sent.map_err(|error| lost(&error))
    }

    /// Reads up to the next ReadyForQuery. `simple` says that a Query is answered, not a Sync. `each`
    /// gets the rows of every statement, where there are several.
    pub(crate) async fn reply(
        &mut self,
        simple: bool,
        mut keep: Option<&mut Vec<Kept>>,
        mut each: Option<&mut Vec<u64>>,
    ) -> Result<u64, DbError> {
        let mut reply = Reply::default();
        loop {
            let (tag, length) = self.header(keep.is_some()).await?;
            if tag == backend::READY_FOR_QUERY_TAG {
                self.block = match self.received[self.start + HEADER_BYTES] {
                    b'I' => Block::Idle,
                    b'T' => Block::Open,
                    _ => Block::Failed,
                };
                self.start += length;
                return reply.error.map_or(Ok(reply.rows), Err);
            }
            if self.end - self.start >= length {
                self.read_message(tag, length, &mut reply, keep.as_deref_mut())?;
                self.start += length;
                if let Some(each) = each.as_deref_mut()
                    && matches!(
                        tag,
                        backend::COMMAND_COMPLETE_TAG | backend::EMPTY_QUERY_RESPONSE_TAG
                    )
                {
                    each.push(std::mem::take(&mut reply.rows));
                }
            } else {
                self.skip(length).await?;
            }
            if tag == backend::COPY_IN_RESPONSE_TAG {
                self.refuse_copy(simple).await?;
            }
        }
    }

    /// Says goodbye; errors no longer matter.
    pub(crate) async fn terminate(&mut self) {
        self.out.clear();
        frontend::terminate(&mut self.out);
        // The server notices a closed socket as well.
        let _ = self.send().await;
    }

    /// Tag and whole length of the next message. The message itself is in the buffer, too, unless
    /// it is one that will be skipped.
    async fn header(&mut self, keeps_rows: bool) -> Result<(u8, usize), DbError> {
        while self.end - self.start < HEADER_BYTES {
            self.receive().await?;
        }
        let header = backend::Header::parse(&self.received[self.start..self.end])
            .ok()
            .flatten()
            .ok_or_else(|| lost(&io::Error::from(io::ErrorKind::InvalidData)))?;
        let length = usize::try_from(header.len())
            .map_err(|_| lost(&io::Error::from(io::ErrorKind::InvalidData)))?
            + 1;
        let skippable = match header.tag() {
            backend::DATA_ROW_TAG | backend::ROW_DESCRIPTION_TAG => !keeps_rows,
            backend::COPY_DATA_TAG | backend::NOTICE_RESPONSE_TAG => true,
            _ => false,
        };
        while !skippable && self.end - self.start < length {
            if self.received.len() < length {
                self.received.resize(length, 0);
            }
            self.receive().await?;
        }
        Ok((header.tag(), length))
    }

    fn read_message(
        &self,
        tag: u8,
        length: usize,
        reply: &mut Reply,
        keep: Option<&mut Vec<Kept>>,
    ) -> Result<(), DbError> {
        let message = &self.received[self.start..self.start + length];
        match tag {
            backend::COMMAND_COMPLETE_TAG => {
                reply.rows = rows_of_tag(&message[HEADER_BYTES..]);
                if let Some(keep) = keep {
                    keep.push(std::mem::take(&mut reply.current));
                }
            }
            backend::ERROR_RESPONSE_TAG if reply.error.is_none() => {
                reply.error = Some(error_of(message)?);
            }
            backend::ROW_DESCRIPTION_TAG if keep.is_some() => {
                reply.current.returns_rows = true;
                reply.current.columns = columns_of(message)?;
            }
            backend::DATA_ROW_TAG if keep.is_some() => {
                reply.current.rows += 1;
                reply.current.last = row_of(message)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Drops a message that need not be in the buffer as a whole.
    async fn skip(&mut self, length: usize) -> Result<(), DbError> {
        let mut left = length;
        loop {
            let here = left.min(self.end - self.start);
            self.start += here;
            left -= here;
            if left == 0 {
                return Ok(());
            }
            self.receive().await?;
        }
    }

    /// A script cannot feed COPY FROM STDIN: the server is told so and answers with an error.
    async fn refuse_copy(&mut self, simple: bool) -> Result<(), DbError> {
        // The codec refuses only texts with a zero byte.
        let _ =
            frontend::copy_fail("a dbload script has no data for COPY FROM STDIN", &mut self.out);
        if !simple {
            // The Sync sent with the statement went under: while it waits for COPY data the
            // server ignores it.
            frontend::sync(&mut self.out);
        }
        self.send().await
    }

    /// Receives at least one more byte.
    async fn receive(&mut self) -> Result<(), DbError> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.start > 0 && self.end == self.received.len() {
            self.received.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let read = self.stream.read(&mut self.received[self.end..]).await;
        match read {
            Ok(0) => Err(lost(&io::Error::from(io::ErrorKind::UnexpectedEof))),
            Ok(bytes) => {
                self.end += bytes;
                Ok(())
            }
            Err(error) => Err(lost(&error)),
        }
    }
}

/// Receives into free space, made where there is none; ready after every piece that came.
fn receive_meanwhile<S: AsyncRead + Unpin>(
    stream: &mut S,
    received: &mut Vec<u8>,
    start: usize,
    end: &mut usize,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    if *end == received.len() {
        let unread = *end - start;
        received.resize(received.len() + unread.max(RECEIVE_BYTES), 0);
    }
    let mut free = ReadBuf::new(&mut received[*end..]);
    ready!(Pin::new(stream).poll_read(cx, &mut free))?;
    match free.filled().len() {
        0 => Poll::Ready(Err(io::Error::from(io::ErrorKind::UnexpectedEof))),
        bytes => {
            *end += bytes;
            Poll::Ready(Ok(()))
        }
    }
}

/// The count at the end of a command tag such as `UPDATE 1` or `INSERT 0 1`; 0 where there is none.
fn rows_of_tag(tag: &[u8]) -> u64 {
    let tag = tag.strip_suffix(&[0]).unwrap_or(tag);
    let digits = tag.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    tag[tag.len() - digits..].iter().fold(0, |rows, digit| rows * 10 + u64::from(digit - b'0'))
}

fn parse(message: &[u8]) -> Result<backend::Message, DbError> {
    backend::Message::parse(&mut BytesMut::from(message))
        .and_then(|parsed| parsed.ok_or_else(|| io::ErrorKind::InvalidData.into()))
        .map_err(|error| lost(&error))
}

fn error_of(message: &[u8]) -> Result<DbError, DbError> {
    match parse(message)? {
        backend::Message::ErrorResponse(body) => {
            let mut code = String::new();
            let mut text = String::new();
            let mut fields = body.fields();
            while let Some(field) = fields.next().map_err(|error| lost(&error))? {
                let value = String::from_utf8_lossy(field.value_bytes());
                match field.type_() {
                    b'C' => code.push_str(&value),
                    b'M' => text.push_str(&value),
                    // Detail and hint come after the message.
                    b'D' | b'H' => {
                        text.push_str(": ");
                        text.push_str(&value);
                    }
                    _ => {}
                }
            }
            Ok(server_error(&code, text))
        }
        _ => Err(lost(&io::ErrorKind::InvalidData.into())),
    }
}

fn columns_of(message: &[u8]) -> Result<Vec<String>, DbError> {
    match parse(message)? {
        backend::Message::RowDescription(body) => body
            .fields()
            .map(|field| Ok(field.name().to_owned()))
            .collect()
            .map_err(|error| lost(&error)),
        _ => Err(lost(&io::ErrorKind::InvalidData.into())),
    }
}

fn row_of(message: &[u8]) -> Result<Vec<Option<String>>, DbError> {
    match parse(message)? {
        backend::Message::DataRow(body) => body
            .ranges()
            .map(|range| {
                Ok(range.map(|range| String::from_utf8_lossy(&body.buffer()[range]).into_owned()))
            })
            .collect()
            .map_err(|error| lost(&error)),
        _ => Err(lost(&io::ErrorKind::InvalidData.into())),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::engine::ErrorKind;

    /// A wire whose peer has already said `bytes`, in pieces of `piece` bytes.
    async fn answered(bytes: Vec<u8>, piece: usize) -> Wire<tokio::io::DuplexStream> {
        let (ours, mut theirs) = tokio::io::duplex(piece);
        tokio::spawn(async move {
            let _ = theirs.write_all(&bytes).await;
            // Kept open until the reader has gone: an early end would be another case.
            let mut rest = Vec::new();
            let _ = theirs.read_to_end(&mut rest).await;
        });
        Wire::new(ours, &[])
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend(i32::try_from(body.len() + 4).unwrap().to_be_bytes());
        bytes.extend(body);
        bytes
    }

    fn data_row(value: &[u8]) -> Vec<u8> {
        let mut body = 1_i16.to_be_bytes().to_vec();
        body.extend(i32::try_from(value.len()).unwrap().to_be_bytes());
        body.extend(value);
        message(b'D', &body)
    }

    fn row_description(name: &str) -> Vec<u8> {
        let mut body = 1_i16.to_be_bytes().to_vec();
        body.extend(name.as_bytes());
        body.extend([0; 19]);
        message(b'T', &body)
    }

    #[tokio::test]
    async fn a_reply_in_single_bytes_gives_the_same_as_one_in_a_piece() {
        for piece in [1, 2, 7, 4096] {
            let bytes =
                [message(b'2', b""), message(b'C', b"UPDATE 17\0"), message(b'Z', b"T")].concat();
            let mut wire = answered(bytes, piece).await;
            assert_eq!(wire.round_trip(None).await.unwrap(), 17);
            assert_eq!(wire.block(), Block::Open);
        }
    }

    #[tokio::test]
    async fn a_row_longer_than_the_buffer_is_skipped_without_growing_it() {
        let bytes =
            [data_row(&vec![b'x'; 100_000]), message(b'C', b"SELECT 1\0"), message(b'Z', b"I")];
        let mut wire = answered(bytes.concat(), 4096).await;
        assert_eq!(wire.round_trip(None).await.unwrap(), 1);
        assert_eq!(wire.received.len(), RECEIVE_BYTES);
    }

    #[tokio::test]
    async fn kept_rows_carry_their_names_and_the_last_values() {
        let long = "y".repeat(20_000);
        let bytes = [
            row_description("a"),
            data_row(b"first"),
            data_row(long.as_bytes()),
            message(b'C', b"SELECT 2\0"),
            message(b'C', b"BEGIN\0"),
            message(b'Z', b"I"),
        ];
        let mut wire = answered(bytes.concat(), 4096).await;
        let mut kept = Vec::new();
        wire.round_trip(Some(&mut kept)).await.unwrap();
        assert_eq!(kept.len(), 2);
        assert_eq!((kept[0].rows, kept[0].returns_rows), (2, true));
        assert_eq!(kept[0].columns, ["a"]);
        assert_eq!(kept[0].last, [Some(long)]);
        assert!(!kept[1].returns_rows);
    }

    #[tokio::test]
    async fn an_error_is_returned_after_the_reply_was_read_to_its_end() {
        let bytes = [
            message(b'E', b"SERROR\0C40P01\0Mdeadlock detected\0\0"),
            message(b'Z', b"E"),
            message(b'C', b"ROLLBACK\0"),
            message(b'Z', b"I"),
        ];
        let mut wire = answered(bytes.concat(), 4096).await;
        let error = wire.round_trip(None).await.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Deadlock, "40P01"));
        assert_eq!(wire.block(), Block::Failed);
        wire.round_trip(None).await.unwrap();
        assert_eq!(wire.block(), Block::Idle);
    }

    #[tokio::test]
    async fn a_closed_stream_is_a_lost_connection() {
        let (ours, theirs) = tokio::io::duplex(64);
        drop(theirs);
        let mut wire = Wire::new(ours, &[]);
        frontend::sync(&mut wire.out);
        assert_eq!(wire.round_trip(None).await.unwrap_err().kind(), ErrorKind::Lost);
    }

    #[tokio::test]
    async fn a_send_that_the_peer_does_not_take_receives_its_replies_meanwhile() {
        let (ours, mut theirs) = tokio::io::duplex(1000);
        let mut wire = Wire::new(ours, &[]);
        wire.out.extend_from_slice(&vec![b'q'; 50_000]);
        let peer = async {
            // Replies first, and reads only when they are taken: both directions are full then.
            let replies = [message(b'C', &vec![b'x'; 50_000]), message(b'Z', b"I")].concat();
            theirs.write_all(&replies).await.unwrap();
            let mut taken = vec![0; 50_000];
            theirs.read_exact(&mut taken).await.unwrap();
        };
        let (sent, ()) = tokio::join!(wire.send(), peer);
        sent.unwrap();
        wire.reply(false, None, None).await.unwrap();
        assert_eq!(wire.block(), Block::Idle);
    }

    #[test]
    fn the_row_count_is_the_last_number_of_the_tag() {
        assert_eq!(rows_of_tag(b"INSERT 0 12\0"), 12);
        assert_eq!(rows_of_tag(b"SELECT 3\0"), 3);
        assert_eq!(rows_of_tag(b"BEGIN\0"), 0);
        assert_eq!(rows_of_tag(b""), 0);
    }
}
