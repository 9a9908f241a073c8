//! The verification of a webhook's certificate, as by Go's `crypto/x509`.
//!
//! Guarantees:
//! - A certificate is valid if a trusted authority issued it, or if it is trusted itself: such a certificate need not
//!   be that of an authority. controller-runtime's envtest has such bundles.
//! - In both cases it has the name of the host, has not expired, and is for servers.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

/// Verifies the certificates of servers with these trusted ones.
#[derive(Debug)]
pub(super) struct Verifier {
    authorities: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// # Errors
    /// A certificate cannot be parsed, or there is none.
    pub(super) fn new(trusted: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let mut authorities = RootCertStore::empty();
        for certificate in &trusted {
            authorities.add(certificate.clone()).map_err(|error| error.to_string())?;
        }
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(authorities), provider).build();
        Ok(Self { authorities: authorities.map_err(|error| error.to_string())?, trusted })
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
        if self.trusted.contains(end_entity) {
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            verify_validity_and_usage(end_entity, now)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.authorities.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Verifies a trusted certificate without its issuer.
fn verify_validity_and_usage(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), CertificateError> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now < parsed.validity().not_before.timestamp() {
        return Err(CertificateError::NotValidYet);
    }
    if now > parsed.validity().not_after.timestamp() {
        return Err(CertificateError::Expired);
    }
    let usage = parsed.extended_key_usage().map_err(|error| CertificateError::Other(OtherError(Arc::new(error))))?;
    let is_for_servers = usage.is_none_or(|usage| usage.value.any || usage.value.server_auth);
    if is_for_servers { Ok(()) } else { Err(CertificateError::InvalidPurpose) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::{crypto::ring, pki_types::pem::PemObject};

    use super::*;
    use crate::server::serve::{Authority, PemPair};

    const DAY: Duration = Duration::from_hours(24);

    fn now() -> Duration {
        Duration::from_secs(UnixTime::now().as_secs())
    }

    /// Verifies the certificate of a pair, which is trusted.
    fn verify(pair: &PemPair, name: &str, now: Duration) -> Result<(), Error> {
        let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap();
        let verifier = Verifier::new(vec![certificate.clone()], Arc::new(ring::default_provider())).unwrap();
        let (name, now) = (ServerName::try_from(name).unwrap(), UnixTime::since_unix_epoch(now));
        verifier.verify_server_cert(&certificate, &[], &name, &[], now).map(drop)
    }

    #[test]
    fn a_trusted_certificate_has_the_name_of_the_host_and_is_valid_and_for_servers() {
        let authority = Authority::generate().unwrap();
        let serving = authority.serving(["webhook.example.com".to_owned()]).unwrap();
        assert_eq!(verify(&serving, "webhook.example.com", now()), Ok(()));
        let invalid = |result| match result {
            Err(Error::InvalidCertificate(error)) => error,
            other => panic!("{other:?}"),
        };
        let other_name = invalid(verify(&serving, "other.example.com", now()));
        assert!(matches!(other_name, CertificateError::NotValidForNameContext { .. }), "{other_name:?}");
        let past = verify(&serving, "webhook.example.com", now() - DAY * 365);
        assert_eq!(invalid(past), CertificateError::NotValidYet);
        let future = verify(&serving, "webhook.example.com", now() + DAY * 365 * 100);
        assert_eq!(invalid(future), CertificateError::Expired);
        let client = authority.client("user", "group").unwrap();
        let certificate = CertificateDer::from_pem_slice(client.certificate.as_bytes()).unwrap();
        let purpose = verify_validity_and_usage(&certificate, UnixTime::now());
        assert_eq!(purpose, Err(CertificateError::InvalidPurpose));
    }

    #[test]
    fn a_certificate_that_is_not_trusted_needs_an_authority() {
        let [authority, other] = [(); 2].map(|()| Authority::generate().unwrap());
        let serving = authority.serving(["webhook.example.com".to_owned()]).unwrap();
        let certificate = CertificateDer::from_pem_slice(serving.certificate.as_bytes()).unwrap();
        let name = ServerName::try_from("webhook.example.com").unwrap();
        // Both authorities have the same name.
        for (authority, expected) in [(&authority, Ok(())), (&other, Err(CertificateError::BadSignature.into()))] {
            let trusted = CertificateDer::from_pem_slice(authority.certificate().as_bytes()).unwrap();
            let verifier = Verifier::new(vec![trusted], Arc::new(ring::default_provider())).unwrap();
            assert_eq!(verifier.verify_server_cert(&certificate, &[], &name, &[], UnixTime::now()).map(drop), expected);
        }
    }
}
