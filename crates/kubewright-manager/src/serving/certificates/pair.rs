//! A certificate chain with its private key and its validity.

use std::sync::Arc;

use jiff::Timestamp;
use rustls::{
    InconsistentKeys,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{Error as PemError, PemObject},
    },
    sign::CertifiedKey,
};
use x509_parser::{certificate::X509Certificate, prelude::FromDer, time::ASN1Time};

/// A certificate chain whose key matches.
pub(super) struct Pair {
    pub(super) key: Arc<CertifiedKey>,
    pub(super) not_before: Timestamp,
    pub(super) not_after: Timestamp,
}

/// Why a chain and a key are no pair.
pub(super) enum PairError {
    Certificate(String),
    Key(String),
    Mismatch,
}

impl Pair {
    /// Validates that the certificates parse, and that the key is that of the first one.
    pub(super) fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, PairError> {
        let (not_before, not_after) = validity(&chain)?;
        let key = CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|error| match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => PairError::Mismatch,
            rustls::Error::InvalidCertificate(error) => PairError::Certificate(error.to_string()),
            error => PairError::Key(error.to_string()),
        })?;
        Ok(Pair { key: Arc::new(key), not_before, not_after })
    }

    /// Parses a chain and its key in PEM format.
    pub(super) fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, PairError> {
        let chain = certificates(certificate).map_err(PairError::Certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| PairError::Key(pem_reason(&error)))?;
        Pair::new(chain, key)
    }
}

/// Parses one or several certificates in PEM format.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match chain.map_err(|error| pem_reason(&error))? {
        chain if chain.is_empty() => Err("it contains no section `CERTIFICATE` in PEM format".to_owned()),
        chain => Ok(chain),
    }
}

/// Describes an error without the contents, which can be secret.
fn pem_reason(error: &PemError) -> String {
    match error {
        PemError::NoItemsFound => "it contains no section `PRIVATE KEY` in PEM format".to_owned(),
        PemError::MissingSectionEnd { .. } => "a section has no end in PEM format".to_owned(),
        PemError::IllegalSectionStart { .. } => "a section has an invalid first line in PEM format".to_owned(),
        PemError::Base64Decode(_) => "a section is invalid base64".to_owned(),
        _ => "it is invalid in PEM format".to_owned(),
    }
}

/// Returns the time in which all certificates of a chain are valid.
fn validity(chain: &[CertificateDer<'_>]) -> Result<(Timestamp, Timestamp), PairError> {
    let mut valid = (Timestamp::MIN, Timestamp::MAX);
    for certificate in chain {
        let parsed = parse(certificate).map_err(PairError::Certificate)?;
        let (not_before, not_after) = validity_of(&parsed).map_err(PairError::Certificate)?;
        valid = (valid.0.max(not_before), valid.1.min(not_after));
    }
    Ok(valid)
}

/// Parses a certificate.
pub(super) fn parse<'a>(certificate: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, String> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|error| error.to_string())?;
    Ok(parsed)
}

/// Returns the time in which a certificate is valid.
pub(super) fn validity_of(certificate: &X509Certificate<'_>) -> Result<(Timestamp, Timestamp), String> {
    let validity = certificate.validity();
    Ok((timestamp(&validity.not_before)?, timestamp(&validity.not_after)?))
}

fn timestamp(time: &ASN1Time) -> Result<Timestamp, String> {
    Timestamp::from_second(time.timestamp()).map_err(|error| error.to_string())
}
