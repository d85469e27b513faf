//! Makes connections to a MySQL or MariaDB server: the driver's for administration, bare ones for
//! measuring clients.
//!
//! One way only: a connection asked for over TCP is never moved to a socket, as the driver would
//! by itself, and the other way round; with `ssl-mode=PREFERRED` a server that does not encrypt is
//! the one thing that changes how it is made.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, SslOpts};
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::ConnectFailure;
use super::login::{LoggedIn, Waiting, log_in};
use crate::engine::tls::{Trust, client_config};
use crate::engine::{DbError, ErrorKind};
use crate::target::{MySqlHost, MySqlTarget, Secret, TlsMode};

/// The largest packet that the protocol has: what is too large for the server, the server says.
const MAX_PACKET_BYTES: usize = 1 << 30;
/// Seconds; a client is never idle so long. Named here so that the driver does not ask the server.
const WAIT_TIMEOUT_S: usize = 28_800;

/// Connects to one target; cloned cheaply.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Parts>);

struct Parts {
    target: MySqlTarget,
    plain: Opts,
    /// Absent when the target never encrypts.
    encrypted: Option<Opts>,
    /// The same for bare connections.
    encryption: Option<Arc<ClientConfig>>,
    /// With `PREFERRED`: the server was seen not to encrypt.
    unencrypted: AtomicBool,
}

impl Connector {
    /// Reads the trusted certificates; does not connect yet.
    pub(crate) fn new(target: MySqlTarget) -> Result<Self, DbError> {
        let plain = options(&target);
        let never = target.tls == TlsMode::Disabled || target.is_socket();
        let (encrypted, encryption) = match never {
            true => (None, None),
            false => {
                let failed = |failure: ConnectFailure| failure.into_error(&target);
                let roots = roots(&target).map_err(failed)?;
                let config = client_config(trust(&target, &roots))
                    .map_err(|error| failed(ConnectFailure::Certificates(error.to_string())))?;
                let ssl = ssl_options(&target, roots);
                (Some(plain.clone().ssl_opts(ssl).into()), Some(Arc::new(config)))
            }
        };
        let unencrypted = AtomicBool::new(false);
        let plain = plain.into();
        Ok(Self(Arc::new(Parts { target, plain, encrypted, encryption, unencrypted })))
    }

    /// The target.
    pub(super) fn target(&self) -> &MySqlTarget {
        &self.0.target
    }

    /// Makes a first connection and closes it. When the server refuses a login without password,
    /// `ask` is called once with what it is for; its answer is kept for all connections.
    pub(crate) async fn check(
        &mut self,
        ask: impl FnOnce(&str) -> Option<Secret>,
    ) -> Result<(), DbError> {
        let failure = match self.attempt().await {
            Ok(conn) => {
                // A server that has hung up meanwhile is met again in a moment.
                let _ = conn.disconnect().await;
                return Ok(());
            }
            Err(failure) => failure,
        };
        let target = &self.0.target;
        if failure.wants_password(target) {
            let what = format!("Password for user {} on {}: ", target.user, target.place());
            if let Some(password) = ask(&what) {
                let target = MySqlTarget { password: Some(password), ..target.clone() };
                *self = Self::new(target)?;
                return self.connect().await.map(drop);
            }
        }
        if matches!(failure, ConnectFailure::Timeout) && speaks_postgres(target).await {
            let text = format!(
                "{} is a PostgreSQL server: give --target postgres://USER@HOST:PORT/DB",
                target.place()
            );
            return Err(DbError::new(ErrorKind::Connect, "", text));
        }
        Err(failure.into_error(&self.0.target))
    }

    /// Connects and logs in.
    pub(crate) async fn connect(&self) -> Result<Conn, DbError> {
        self.attempt().await.map_err(|failure| failure.into_error(&self.0.target))
    }

    /// Connects and logs in, for packets of the caller's own.
    pub(super) async fn log_in(&self, waiting: Waiting) -> Result<LoggedIn, DbError> {
        let Parts { target, encryption, .. } = &*self.0;
        let made = self.within(log_in(target, encryption.as_ref(), waiting)).await;
        made.map_err(|failure| failure.into_error(target))
    }

    /// Asks the server to stop what connection `id` does. Silent when that fails: the connection
    /// may be gone, or done.
    pub(super) async fn cancel(&self, id: u32) {
        if let Ok(mut conn) = self.attempt().await {
            let _ = conn.query_drop(format!("KILL QUERY {id}")).await;
            let _ = conn.disconnect().await;
        }
    }

    async fn attempt(&self) -> Result<Conn, ConnectFailure> {
        let parts = &*self.0;
        let preferred = parts.target.tls == TlsMode::Preferred;
        let encrypted = parts.encrypted.as_ref();
        let Some(encrypted) = encrypted.filter(|_| !parts.unencrypted.load(Ordering::Relaxed))
        else {
            return self.within(Conn::new(parts.plain.clone())).await;
        };
        match self.within(Conn::new(encrypted.clone())).await {
            Err(failure) if preferred && failure.is_unencrypted() => {
                parts.unencrypted.store(true, Ordering::Relaxed);
                self.within(Conn::new(parts.plain.clone())).await
            }
            // The driver insists on the name although it was told not to: it gets one that fits.
            Err(failure) if parts.target.tls == TlsMode::VerifyCa => {
                let Some(name) = failure.name_of_server() else { return Err(failure) };
                let ssl = encrypted.ssl_opts().cloned().unwrap_or_default();
                let ssl = ssl.with_danger_tls_hostname_override(Some(name));
                let again = OptsBuilder::from_opts(encrypted.clone()).ssl_opts(ssl);
                self.within(Conn::new(again)).await
            }
            result => result,
        }
    }

    async fn within<T>(
        &self,
        connecting: impl Future<Output = mysql_async::Result<T>>,
    ) -> Result<T, ConnectFailure> {
        let Some(limit) = self.0.target.connect_timeout else { return Ok(connecting.await?) };
        match timeout(limit, connecting).await {
            Ok(made) => Ok(made?),
            Err(_) => Err(ConnectFailure::Timeout),
        }
    }
}

/// How long a server has to say which kind it is.
const KIND: Duration = Duration::from_secs(1);

/// Whether a server that said nothing is a PostgreSQL server, which lets its client speak first: one
/// answers a request for encryption with one letter.
async fn speaks_postgres(target: &MySqlTarget) -> bool {
    let MySqlHost::Tcp { name, port } = &target.host else { return false };
    let asking = async {
        let mut stream = TcpStream::connect((name.as_str(), *port)).await?;
        let mut request = BytesMut::new();
        postgres_protocol::message::frontend::ssl_request(&mut request);
        stream.write_all(&request).await?;
        stream.read_u8().await
    };
    matches!(timeout(KIND, asking).await, Ok(Ok(b'S' | b'N')))
}

fn options(target: &MySqlTarget) -> OptsBuilder {
    let options = OptsBuilder::default()
        .user(Some(&target.user))
        .pass(target.password.as_ref().map(Secret::expose))
        .db_name(Some(&target.database))
        .prefer_socket(false)
        // Statements are kept by number in the session.
        .stmt_cache_size(0)
        .client_found_rows(true)
        .max_allowed_packet(Some(MAX_PACKET_BYTES))
        .wait_timeout(Some(WAIT_TIMEOUT_S));
    match &target.host {
        MySqlHost::Socket(path) => options.socket(Some(path.display().to_string())),
        MySqlHost::Tcp { name, port } => options.ip_or_hostname(name).tcp_port(*port),
    }
}

/// The certificates that are trusted; none where none is looked at.
fn roots(target: &MySqlTarget) -> Result<Vec<CertificateDer<'static>>, ConnectFailure> {
    if target.tls < TlsMode::VerifyCa {
        return Ok(Vec::new());
    }
    let bad = |place: String, problem: String| {
        ConnectFailure::Certificates(format!("trusted certificates (ssl-ca): {place}: {problem}"))
    };
    let Some(path) = &target.ca else {
        let loaded = rustls_native_certs::load_native_certs();
        return match loaded.errors.first() {
            Some(error) if loaded.certs.is_empty() => Err(bad(
                "those of the operating system".to_owned(),
                format!("{error}; name a file with ssl-ca"),
            )),
            _ => Ok(loaded.certs),
        };
    };
    let read =
        CertificateDer::pem_file_iter(path).and_then(|certs| certs.collect::<Result<Vec<_>, _>>());
    match read {
        Ok(certs) if !certs.is_empty() => Ok(certs),
        Ok(_) => Err(bad(path.display().to_string(), "it holds no certificate".to_owned())),
        Err(error) => Err(bad(path.display().to_string(), error.to_string())),
    }
}

fn trust(target: &MySqlTarget, roots: &[CertificateDer<'static>]) -> Trust {
    match target.tls {
        TlsMode::VerifyCa => Trust::Authority(roots.to_vec()),
        TlsMode::VerifyIdentity => Trust::Host(roots.to_vec()),
        TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required => Trust::Anybody,
    }
}

fn ssl_options(target: &MySqlTarget, roots: Vec<CertificateDer<'static>>) -> SslOpts {
    if target.tls < TlsMode::VerifyCa {
        return SslOpts::default().with_danger_accept_invalid_certs(true);
    }
    SslOpts::default()
        .with_root_certs(roots.into_iter().map(|root| root.to_vec().into()).collect())
        .with_disable_built_in_roots(true)
        .with_danger_skip_domain_validation(target.tls == TlsMode::VerifyCa)
}
