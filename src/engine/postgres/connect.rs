//! Makes connections to a PostgreSQL server.
//!
//! The driver does the login (SCRAM, channel binding and the rest); then a measuring client takes
//! the bare stream and speaks frames of its own, while other work keeps the driver's client. Socket
//! and encryption are made here, so that one set of rules and sentences holds for both.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_postgres::config::{self, SslNegotiation};
use tokio_postgres::tls::{TlsConnect, TlsStream};
use tokio_postgres::{CancelToken, Client, Config};

use super::error::ConnectFailure;
use super::stream::{PgStream, Tap};
use super::tls::Encryption;
use crate::engine::DbError;
use crate::target::{ChannelBinding, PgHost, PgTarget, Secret, SslMode};

/// Connects to one target; cloned cheaply.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Parts>);

struct Parts {
    target: PgTarget,
    /// Absent when the target never encrypts.
    encryption: Option<Encryption>,
}

/// A connection that has logged in and waits for a command.
pub(crate) struct Connected {
    /// The stream, nothing sent since the login.
    pub(crate) stream: PgStream,
    /// What the server sent after the end of the login; comes before what `stream` will give.
    pub(crate) unread: BytesMut,
    /// For [`Connector::cancel`].
    pub(crate) cancel: CancelToken,
}

impl Connector {
    /// Reads the trusted certificates; does not connect yet.
    pub(crate) fn new(target: PgTarget) -> Result<Self, DbError> {
        let never = target.ssl_mode == SslMode::Disable || target.socket_path().is_some();
        let encryption = match never {
            true => None,
            false => Some(Encryption::new(&target).map_err(|error| error.into_error(&target))?),
        };
        Ok(Self(Arc::new(Parts { target, encryption })))
    }

    /// The target.
    pub(crate) fn target(&self) -> &PgTarget {
        &self.0.target
    }

    /// Makes a first connection and closes it. When the server wants a password and none is
    /// known, `ask` is called once with what it is for; its answer is kept for all connections.
    pub(crate) async fn check(
        &mut self,
        ask: impl FnOnce(&str) -> Option<Secret>,
    ) -> Result<(), DbError> {
        let failure = match self.by_mode::<Connected>().await {
            Ok(_) => return Ok(()),
            Err(failure) => failure,
        };
        if failure.wants_password() {
            let target = self.target();
            let what = format!("Password for user {} on {}: ", target.user, target.place());
            if let Some(password) = ask(&what) {
                let target = PgTarget { password: Some(password), ..target.clone() };
                let encryption = self.0.encryption.clone();
                self.0 = Arc::new(Parts { target, encryption });
                return self.connect().await.map(drop);
            }
        }
        Err(failure.into_error(self.target()))
    }

    /// Connects and logs in, for frames of the caller's own.
    pub(crate) async fn connect(&self) -> Result<Connected, DbError> {
        self.by_mode::<Connected>().await.map_err(|failure| failure.into_error(self.target()))
    }

    /// Connects and logs in, for work that is not measured. The connection's task runs on the
    /// current runtime and ends with the client.
    pub(crate) async fn connect_client(&self) -> Result<(Client, JoinHandle<()>), DbError> {
        let made = self.by_mode::<(Client, JoinHandle<()>)>().await;
        made.map_err(|failure| failure.into_error(self.target()))
    }

    /// Asks the server to stop what a connection does. Silent when that fails: the connection may
    /// be gone, or done.
    pub(crate) async fn cancel(&self, token: &CancelToken) {
        let encrypted = self.target().ssl_mode >= SslMode::Prefer;
        let asking = async {
            let stream = self.open(encrypted).await?;
            Ok(token.cancel_query_raw(stream, Established).await?)
        };
        let _: Result<(), ConnectFailure> = within(self.target().connect_timeout, asking).await;
    }

    /// Logs in over a stream that `sslmode` allows, and when the server's rules may want the other
    /// kind, over that.
    async fn by_mode<L: Login>(&self) -> Result<L, ConnectFailure> {
        let (first, second) = match (&self.0.encryption, self.target().ssl_mode) {
            (None, _) | (_, SslMode::Disable) => (false, None),
            (_, SslMode::Allow) => (false, Some(true)),
            (_, SslMode::Prefer) => (true, Some(false)),
            (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => (true, None),
        };
        match (self.attempt::<L>(first).await, second) {
            (Err(failure), Some(second)) if failure.may_depend_on_encryption() => {
                // When both fail, the first one's reason is that of what was asked for.
                self.attempt::<L>(second).await.map_err(|_| failure)
            }
            (result, _) => result,
        }
    }

    async fn attempt<L: Login>(&self, encrypted: bool) -> Result<L, ConnectFailure> {
        let attempt = async {
            let stream = self.open(encrypted).await?;
            let config = self.config(stream.is_encrypted());
            Ok(L::log_in(config, stream).await?)
        };
        within(self.target().connect_timeout, attempt).await
    }

    /// Opens a stream. With `sslmode=prefer`, one that should be encrypted may turn out plain.
    async fn open(&self, encrypted: bool) -> Result<PgStream, ConnectFailure> {
        let target = self.target();
        let (name, mut stream) = match &target.host {
            PgHost::Socket(_) => {
                let path = target.socket_path().expect("the host is a socket");
                return open_socket(&path).await;
            }
            PgHost::Tcp { name, address } => {
                let addresses = match address {
                    Some(address) => vec![SocketAddr::new(*address, target.port)],
                    None => tokio::net::lookup_host((name.as_str(), target.port))
                        .await
                        .map_err(ConnectFailure::Lookup)?
                        .collect(),
                };
                (name, open_tcp(&addresses, target.connect_timeout).await?)
            }
        };
        let Some(encryption) = self.0.encryption.as_ref().filter(|_| encrypted) else {
            return Ok(PgStream::Tcp(stream));
        };
        if !request_tls(&mut stream).await.map_err(ConnectFailure::Socket)? {
            return match target.ssl_mode {
                SslMode::Prefer => Ok(PgStream::Tcp(stream)),
                _ => Err(ConnectFailure::NoTls),
            };
        }
        let stream = encryption.encrypt(name, stream).await.map_err(ConnectFailure::Tls)?;
        Ok(PgStream::Tls(Box::new(stream)))
    }

    /// The driver's settings for a stream that is already as encrypted as it will be.
    fn config(&self, is_encrypted: bool) -> Config {
        let target = self.target();
        let mut config = Config::new();
        config
            .user(&target.user)
            .dbname(&target.database)
            .application_name(&target.application_name)
            .channel_binding(match target.channel_binding {
                ChannelBinding::Disable => config::ChannelBinding::Disable,
                ChannelBinding::Prefer => config::ChannelBinding::Prefer,
                ChannelBinding::Require => config::ChannelBinding::Require,
            });
        if let Some(password) = &target.password {
            config.password(password.expose());
        }
        if let Some(options) = &target.options {
            config.options(options);
        }
        if is_encrypted {
            // "Direct" keeps the driver from asking the server for what has been done.
            config.ssl_mode(config::SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
        } else {
            config.ssl_mode(config::SslMode::Disable);
        }
        config
    }
}

/// What a login makes of a stream.
trait Login: Sized {
    fn log_in(
        config: Config,
        stream: PgStream,
    ) -> impl Future<Output = Result<Self, tokio_postgres::Error>> + Send;
}

impl Login for Connected {
    async fn log_in(config: Config, stream: PgStream) -> Result<Self, tokio_postgres::Error> {
        let mut tap = Tap::new(stream);
        let (client, connection) = config.connect_raw(&mut tap, Established).await?;
        let cancel = client.cancel_token();
        // Never polled, so it has sent nothing of its own; the tap has kept what came early.
        drop(connection);
        let (stream, unread) = tap.into_parts();
        Ok(Self { stream, unread, cancel })
    }
}

impl Login for (Client, JoinHandle<()>) {
    async fn log_in(config: Config, stream: PgStream) -> Result<Self, tokio_postgres::Error> {
        let (client, connection) = config.connect_raw(stream, Established).await?;
        // A broken connection shows as the failure of what the client asks for next.
        Ok((client, tokio::spawn(async move { drop(connection.await) })))
    }
}

async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, ConnectFailure>>,
) -> Result<T, ConnectFailure> {
    match limit {
        None => work.await,
        Some(limit) => {
            tokio::time::timeout(limit, work).await.unwrap_or(Err(ConnectFailure::Timeout))
        }
    }
}

async fn open_socket(path: &Path) -> Result<PgStream, ConnectFailure> {
    UnixStream::connect(path).await.map(PgStream::Unix).map_err(ConnectFailure::Socket)
}

/// The first address that answers, in the resolver's order.
async fn open_tcp(
    addresses: &[SocketAddr],
    limit: Option<Duration>,
) -> Result<TcpStream, ConnectFailure> {
    // An address that swallows packets must not use up the time of the others.
    let share = limit.map(|limit| limit / u32::try_from(addresses.len().max(1)).unwrap_or(1));
    let nowhere = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut failure = ConnectFailure::Lookup(nowhere);
    for address in addresses {
        let connecting =
            async { TcpStream::connect(address).await.map_err(ConnectFailure::Socket) };
        match within(share, connecting).await {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(ConnectFailure::Socket)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// What to do about a server of another kind.
pub(super) const FOREIGN: &str = "for MySQL and MariaDB give --target mysql://USER@HOST:PORT/DB";

/// Asks for encryption; whether the server agrees.
async fn request_tls(stream: &mut TcpStream) -> io::Result<bool> {
    let mut request = BytesMut::new();
    postgres_protocol::message::frontend::ssl_request(&mut request);
    stream.write_all(&request).await?;
    // One byte and no more: what follows has to come through the encryption.
    match stream.read_u8().await? {
        b'S' => Ok(true),
        // Refused, or by an old server not understood.
        b'N' | b'E' => Ok(false),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, FOREIGN)),
    }
}

/// Tells the driver that the stream it was given is the encrypted one.
struct Established;

impl<S: TlsStream + Unpin> TlsConnect<S> for Established {
    type Stream = S;
    type Error = Infallible;
    type Future = Ready<Result<S, Infallible>>;

    fn connect(self, stream: S) -> Self::Future {
        ready(Ok(stream))
    }
}
