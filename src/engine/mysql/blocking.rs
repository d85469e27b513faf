//! A socket whose reads and writes block the thread, for a client that has its thread to itself:
//! two system calls for a statement, where an event loop needs a third and its own book-keeping.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// So long a call blocks at most: a run that is abandoned is left so late.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// A blocking socket. A read for which nothing came within a moment ends with `WouldBlock`; its
/// reader gives the event loop a turn and reads again.
pub(super) struct Blocking<S>(S);

impl Blocking<TcpStream> {
    pub(super) fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LONGEST_WAIT))?;
        stream.set_write_timeout(Some(LONGEST_WAIT))?;
        Ok(Self(stream))
    }
}

impl Blocking<UnixStream> {
    pub(super) fn unix(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LONGEST_WAIT))?;
        stream.set_write_timeout(Some(LONGEST_WAIT))?;
        Ok(Self(stream))
    }
}

impl<S: Read + Unpin> AsyncRead for Blocking<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match self.0.read(buf.initialize_unfilled()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(bytes) => {
                    buf.advance(bytes);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl<S: Write + Unpin> AsyncWrite for Blocking<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.0.write(buf) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The server takes nothing; the writer keeps count of what it took, so it is woken.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_read_waits_for_a_moment_and_then_says_that_it_would_block() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut socket = Blocking::unix(ours).unwrap();
        let mut received = [0; 8];
        let error = socket.read(&mut received).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        theirs.write_all(b"late").unwrap();
        assert_eq!(socket.read(&mut received).await.unwrap(), 4);
        drop(theirs);
        assert_eq!(socket.read(&mut received).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_write_that_nobody_takes_goes_on_where_it_stopped() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut socket = Blocking::unix(ours).unwrap();
        let sent: Vec<u8> = (0..2_000_000_u32).map(|byte| byte.to_le_bytes()[0]).collect();
        let reader = std::thread::spawn(move || {
            std::thread::sleep(3 * LONGEST_WAIT);
            let mut taken = Vec::new();
            theirs.read_to_end(&mut taken).map(|_| taken)
        });
        socket.write_all(&sent).await.unwrap();
        drop(socket);
        assert_eq!(reader.join().unwrap().unwrap(), sent);
    }
}
