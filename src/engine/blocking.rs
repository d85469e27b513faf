//! A socket whose reads and writes block the thread, for a client that has its thread to itself:
//! without an event loop's own book-keeping, and on TCP with two system calls for a statement.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// So long a call blocks at most: a run that is abandoned is left so late.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// A blocking socket. It gives the event loop, which nothing else wakes, a turn when a call has
/// waited for the longest time, and once in 256 reads.
pub(crate) struct Blocking<S> {
    socket: S,
    /// Waits in `poll` before it receives.
    polls: bool,
    /// Reads since the last turn.
    reads: u8,
}

impl Blocking<TcpStream> {
    /// Takes over a socket that does not block; what was set on it stays.
    pub(super) fn tcp(socket: tokio::net::TcpStream) -> io::Result<Self> {
        let socket = socket.into_std()?;
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(LONGEST_WAIT))?;
        socket.set_write_timeout(Some(LONGEST_WAIT))?;
        Ok(Self { socket, polls: false, reads: 0 })
    }
}

impl Blocking<UnixStream> {
    /// Takes over a socket that does not block. A `recv` on it would be woken twice: by the answer,
    /// and before that by the room that the server makes when it takes what was sent.
    pub(super) fn unix(socket: tokio::net::UnixStream) -> io::Result<Self> {
        let socket = socket.into_std()?;
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(LONGEST_WAIT))?;
        socket.set_write_timeout(Some(LONGEST_WAIT))?;
        Ok(Self { socket, polls: true, reads: 0 })
    }
}

/// Waits for something to receive, for the longest time at most.
fn is_readable(socket: &impl AsFd) -> io::Result<bool> {
    let limit = Timespec { tv_sec: 0, tv_nsec: LONGEST_WAIT.subsec_nanos().into() };
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&limit)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Not ready until the event loop has had a turn.
fn after_a_turn<T>(cx: &mut Context<'_>) -> Poll<T> {
    // Its first poll asks to be woken after the turn; the caller's future is woken in its place.
    let turn = pin!(tokio::task::yield_now());
    let _ = turn.poll(cx);
    Poll::Pending
}

impl<S: Read + AsFd + Unpin> AsyncRead for Blocking<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.reads = self.reads.wrapping_add(1);
        if self.reads == 0 {
            return after_a_turn(cx);
        }
        if self.polls && !is_readable(&self.socket)? {
            return after_a_turn(cx);
        }
        loop {
            match self.socket.read(buf.initialize_unfilled()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return after_a_turn(cx),
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
            match self.socket.write(buf) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return after_a_turn(cx),
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
    use std::cell::Cell;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn pair() -> (Blocking<UnixStream>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let ours = tokio::net::UnixStream::from_std(ours).unwrap();
        (Blocking::unix(ours).unwrap(), theirs)
    }

    #[tokio::test]
    async fn others_have_their_turn_while_nothing_comes() {
        let (mut socket, mut theirs) = pair();
        let mut received = [0; 8];
        let answer = async {
            // Reached only because the read lets go.
            tokio::task::yield_now().await;
            theirs.write_all(b"late").unwrap();
        };
        let (read, ()) = tokio::join!(socket.read(&mut received), answer);
        assert_eq!(read.unwrap(), 4);
        drop(theirs);
        assert_eq!(socket.read(&mut received).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn others_have_their_turn_while_there_is_always_something() {
        let (mut socket, mut theirs) = pair();
        theirs.write_all(&[0; 1000]).unwrap();
        let turns = Cell::new(0);
        let reading = async {
            while turns.get() < 2 {
                socket.read_u8().await.unwrap();
            }
        };
        let other = async {
            for turn in 1..=2 {
                turns.set(turn);
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(reading, other);
    }

    #[tokio::test]
    async fn a_write_that_nobody_takes_goes_on_where_it_stopped() {
        let (mut socket, mut theirs) = pair();
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
