//! Encryption: rustls with ring, and what of a server's certificate is verified. One set of rules for
//! PostgreSQL's `sslmode` and MySQL's `ssl-mode`, which grade it alike.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// What a certificate has to prove.
#[derive(Debug)]
pub(super) enum Trust {
    /// Nothing: encryption without knowing with whom.
    Anybody,
    /// That one of these authorities made it.
    Authority(Vec<CertificateDer<'static>>),
    /// And for that very host.
    Host(Vec<CertificateDer<'static>>),
}

/// A client's side of encryption with servers that prove `trust`.
pub(super) fn client_config(trust: Trust) -> Result<ClientConfig, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier::new(trust, Arc::clone(&provider))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(config)
}

/// Verifies as the databases' own clients do, which differs from a browser's way in two points: a name need not fit
/// (`verify-ca`), and a certificate may be in the list of trusted ones itself.
#[derive(Debug)]
struct Verifier {
    trust: Trust,
    chains: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn new(trust: Trust, provider: Arc<CryptoProvider>) -> Result<Self, Error> {
        let chains = match &trust {
            Trust::Anybody => None,
            Trust::Authority(roots) | Trust::Host(roots) => {
                let mut store = RootCertStore::empty();
                store.add_parsable_certificates(roots.iter().cloned());
                let builder = WebPkiServerVerifier::builder_with_provider(
                    Arc::new(store),
                    Arc::clone(&provider),
                );
                Some(builder.build().map_err(|error| {
                    Error::General(format!("trusted certificates are not usable: {error}"))
                })?)
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
