//! Encryption by libpq's rules.

use std::io;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::net::TcpStream;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::ConnectFailure;
use crate::engine::tls::{Trust, client_config};
use crate::target::{PgTarget, RootCert, SslMode};

/// An encrypted stream that knows its channel binding.
pub(super) type EncryptedStream = <MakeRustlsConnect as MakeTlsConnect<TcpStream>>::Stream;

/// Makes streams encrypted, by one target's rules; read once, cloned cheaply.
#[derive(Clone)]
pub(super) struct Encryption(MakeRustlsConnect);

impl Encryption {
    /// Reads the trusted certificates.
    pub(super) fn new(target: &PgTarget) -> Result<Self, ConnectFailure> {
        let config = client_config(trust_of(target)?)
            .map_err(|error| ConnectFailure::Tls(io::Error::other(error)))?;
        Ok(Self(MakeRustlsConnect::new(config)))
    }

    /// Encrypts a stream to the server that should be `host`.
    pub(super) async fn encrypt(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<EncryptedStream> {
        let mut maker = self.0.clone();
        let made = MakeTlsConnect::<TcpStream>::make_tls_connect(&mut maker, host);
        made.map_err(io::Error::other)?.connect(stream).await
    }
}

fn trust_of(target: &PgTarget) -> Result<Trust, ConnectFailure> {
    let roots = match &target.root_cert {
        RootCert::None => return Ok(Trust::Anybody),
        // As libpq: only with `require` and more does an existing file count.
        _ if target.ssl_mode < SslMode::Require => return Ok(Trust::Anybody),
        RootCert::File(path) => {
            let read = CertificateDer::pem_file_iter(path)
                .and_then(|certs| certs.collect::<Result<Vec<_>, _>>());
            match read {
                Ok(certs) if !certs.is_empty() => certs,
                Ok(_) => return Err(bad_roots(path.display(), "it holds no certificate")),
                Err(error) => return Err(bad_roots(path.display(), error)),
            }
        }
        RootCert::System => {
            let loaded = rustls_native_certs::load_native_certs();
            match loaded.errors.first() {
                Some(error) if loaded.certs.is_empty() => {
                    return Err(bad_roots("the operating system's certificates", error));
                }
                _ => loaded.certs,
            }
        }
    };
    Ok(if target.ssl_mode == SslMode::VerifyFull {
        Trust::Host(roots)
    } else {
        Trust::Authority(roots)
    })
}

fn bad_roots(place: impl std::fmt::Display, problem: impl std::fmt::Display) -> ConnectFailure {
    ConnectFailure::RootCert(format!("trusted certificates (sslrootcert): {place}: {problem}"))
}
