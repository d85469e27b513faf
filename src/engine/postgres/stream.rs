//! The byte stream to a server, encrypted or not, and the tap that ends a login on a frame.
//!
//! Knows the length of frames, not their meaning.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::tls::{ChannelBinding, TlsStream};

use super::tls::EncryptedStream;
use crate::engine::blocking::Blocking;

/// A connection's byte stream.
pub(crate) enum PgStream {
    /// TCP, without delay for small packets.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
    /// TLS over TCP.
    Tls(Box<EncryptedStream>),
    /// TCP, whose calls block the thread.
    TcpAlone(Blocking<std::net::TcpStream>),
    /// A Unix socket, whose calls block the thread.
    UnixAlone(Blocking<std::os::unix::net::UnixStream>),
}

impl PgStream {
    /// Whether the stream is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// The stream for a client that has its thread to itself. An encrypted one stays as it is.
    pub(super) fn alone(self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::TcpAlone(Blocking::tcp(stream)?),
            Self::Unix(stream) => Self::UnixAlone(Blocking::unix(stream)?),
            other => other,
        })
    }
}

/// Calls a method of whichever stream it is.
macro_rules! forward {
    ($self:expr, $method:ident ( $($argument:expr),* )) => {
        match $self.get_mut() {
            PgStream::Tcp(stream) => Pin::new(stream).$method($($argument),*),
            PgStream::Unix(stream) => Pin::new(stream).$method($($argument),*),
            PgStream::Tls(stream) => Pin::new(stream.as_mut()).$method($($argument),*),
            PgStream::TcpAlone(stream) => Pin::new(stream).$method($($argument),*),
            PgStream::UnixAlone(stream) => Pin::new(stream).$method($($argument),*),
        }
    };
}

impl AsyncRead for PgStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        forward!(self, poll_read(cx, buf))
    }
}

impl AsyncWrite for PgStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        forward!(self, poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        forward!(self, poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        forward!(self, poll_shutdown(cx))
    }
}

impl TlsStream for PgStream {
    fn channel_binding(&self) -> ChannelBinding {
        match self {
            Self::Tls(stream) => stream.channel_binding(),
            _ => ChannelBinding::none(),
        }
    }
}

/// A stream that a login is read through: its reader never sees a byte beyond the first
/// `ReadyForQuery`, so that nothing is lost when the login's own buffers are thrown away.
pub(super) struct Tap<S> {
    stream: S,
    /// Read from the stream, not yet handed out.
    buffer: BytesMut,
    /// Bytes at the start of `buffer` that belong to the login.
    passed: usize,
    /// The first `ReadyForQuery` lies within `passed`, or has been handed out.
    is_ready: bool,
}

/// Type byte of the message that ends a login.
const READY_FOR_QUERY: u8 = b'Z';
/// Type byte and length of a message.
const HEADER_BYTES: usize = 5;
/// More than a whole login sends (about 500 bytes), so that one read is enough for a step.
const READ_BYTES: usize = 2048;

impl<S> Tap<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, buffer: BytesMut::new(), passed: 0, is_ready: false }
    }

    /// The stream, and what was read from it beyond the login.
    pub(super) fn into_parts(mut self) -> (S, BytesMut) {
        (self.stream, self.buffer.split_off(self.passed))
    }

    /// Lets whole messages pass up to `ReadyForQuery`.
    fn scan(&mut self) {
        while !self.is_ready {
            let Some(header) = self.buffer.get(self.passed..self.passed + HEADER_BYTES) else {
                return;
            };
            let length = u32::from_be_bytes(header[1..].try_into().expect("four bytes"));
            // The length counts itself; the reader refuses a shorter one, so it may have it.
            let Ok(length) = usize::try_from(length.max(4)) else { return };
            if self.buffer.len() - self.passed < 1 + length {
                return;
            }
            self.is_ready = header[0] == READY_FOR_QUERY;
            self.passed += 1 + length;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let tap = self.get_mut();
        while tap.passed == 0 {
            if tap.is_ready {
                return Poll::Ready(Ok(())); // for this reader, the stream ends here
            }
            tap.buffer.reserve(READ_BYTES);
            let before = tap.buffer.len();
            let mut read = std::pin::pin!(tap.stream.read_buf(&mut tap.buffer));
            ready!(read.as_mut().poll(cx))?;
            if tap.buffer.len() == before {
                return Poll::Ready(Ok(())); // the server hung up
            }
            tap.scan();
        }
        let count = tap.passed.min(buf.remaining());
        buf.put_slice(&tap.buffer[..count]);
        tap.buffer.advance(count);
        tap.passed -= count;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl TlsStream for &mut Tap<PgStream> {
    fn channel_binding(&self) -> ChannelBinding {
        self.stream.channel_binding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTH_OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";
    const READY: &[u8] = b"Z\0\0\0\x05I";
    const NOTICE: &[u8] = b"N\0\0\0\x06hi";

    #[tokio::test]
    async fn the_reader_sees_nothing_beyond_ready() {
        let sent = [AUTH_OK, READY, NOTICE, READY].concat();
        // Whole, and in pieces that cut headers and bodies anywhere.
        for piece in 1..=sent.len() {
            let mut tap = Tap::new(Pieces(&sent, piece));
            let mut seen = vec![0; AUTH_OK.len() + READY.len()];
            tap.read_exact(&mut seen).await.unwrap();
            assert_eq!(seen, [AUTH_OK, READY].concat());
            assert_eq!(tap.read(&mut [0]).await.unwrap(), 0);
            let (mut stream, mut rest) = tap.into_parts();
            while stream.read_buf(&mut rest).await.unwrap() > 0 {}
            assert_eq!(rest, [NOTICE, READY].concat(), "pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn a_server_that_hangs_up_is_the_end() {
        let mut stream: &[u8] = &AUTH_OK[..7];
        let mut buffer = Vec::new();
        Tap::new(&mut stream).read_to_end(&mut buffer).await.unwrap();
        assert!(buffer.is_empty());
    }

    /// Hands its bytes out in pieces of `piece`.
    struct Pieces<'a>(&'a [u8], usize);

    impl AsyncRead for Pieces<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let (now, later) = self.0.split_at(self.1.min(self.0.len()).min(buf.remaining()));
            buf.put_slice(now);
            self.0 = later;
            Poll::Ready(Ok(()))
        }
    }
}
