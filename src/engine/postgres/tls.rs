//! Encryption: rustls with ring, and libpq's rules of what is verified.

use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::ConnectFailure;
use crate::target::{PgTarget, RootCert, SslMode};

/// An encrypted stream that knows its channel binding.
pub(super) type EncryptedStream = <MakeRustlsConnect as MakeTlsConnect<TcpStream>>::Stream;

/// Makes streams encrypted, by one target's rules; read once, cloned cheaply.
#[derive(Clone)]
pub(super) struct Encryption(MakeRustlsConnect);

impl Encryption {
    /// Reads the trusted certificates.
    pub(super) fn new(target: &PgTarget) -> Result<Self, ConnectFailure> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trust = Trust::of(target)?;
        let verifier = Verifier::new(trust, Arc::clone(&provider))?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| ConnectFailure::Tls(io::Error::other(error)))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
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

/// What a certificate has to prove.
#[derive(Debug)]
enum Trust {
    /// Nothing: encryption without knowing with whom.
    Anybody,
    /// That one of these authorities made it.
    Authority(Vec<CertificateDer<'static>>),
    /// And for that very host.
    Host(Vec<CertificateDer<'static>>),
}

impl Trust {
    fn of(target: &PgTarget) -> Result<Self, ConnectFailure> {
        let roots = match &target.root_cert {
            RootCert::None => return Ok(Self::Anybody),
            // As libpq: only with `require` and more does an existing file count.
            _ if target.ssl_mode < SslMode::Require => return Ok(Self::Anybody),
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
            Self::Host(roots)
        } else {
            Self::Authority(roots)
        })
    }
}

fn bad_roots(place: impl std::fmt::Display, problem: impl std::fmt::Display) -> ConnectFailure {
    ConnectFailure::RootCert(format!("trusted certificates (sslrootcert): {place}: {problem}"))
}

/// Verifies as libpq does, which differs from a browser's way in two points: a name need not fit
/// (`verify-ca`), and a certificate may be in the list of trusted ones itself.
#[derive(Debug)]
struct Verifier {
    trust: Trust,
    chains: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn new(trust: Trust, provider: Arc<CryptoProvider>) -> Result<Self, ConnectFailure> {
        let chains = match &trust {
            Trust::Anybody => None,
            Trust::Authority(roots) | Trust::Host(roots) => {
                let mut store = RootCertStore::empty();
                store.add_parsable_certificates(roots.iter().cloned());
                let builder = WebPkiServerVerifier::builder_with_provider(
                    Arc::new(store),
                    Arc::clone(&provider),
                );
                Some(builder.build().map_err(|error| bad_roots("not usable", error))?)
            }
        };
        Ok(Self { trust, chains, provider })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let (Trust::Authority(roots) | Trust::Host(roots), Some(chains)) =
            (&self.trust, &self.chains)
        else {
            return Ok(ServerCertVerified::assertion());
        };
        let must_fit = matches!(self.trust, Trust::Host(_));
        if roots.iter().any(|root| root == end_entity) {
            if must_fit {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !must_fit => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
