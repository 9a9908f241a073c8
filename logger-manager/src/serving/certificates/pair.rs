//! A certificate chain with its private key and its validity.

use std::sync::Arc;

use jiff::Timestamp;
use rustls::{
    InconsistentKeys,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
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
}

/// Returns the time in which all certificates of a chain are valid.
fn validity(chain: &[CertificateDer<'_>]) -> Result<(Timestamp, Timestamp), PairError> {
    let mut valid = (Timestamp::MIN, Timestamp::MAX);
    for certificate in chain {
        let (_, parsed) =
            X509Certificate::from_der(certificate).map_err(|error| PairError::Certificate(error.to_string()))?;
        let validity = parsed.validity();
        valid = (valid.0.max(timestamp(&validity.not_before)?), valid.1.min(timestamp(&validity.not_after)?));
    }
    Ok(valid)
}

fn timestamp(time: &ASN1Time) -> Result<Timestamp, PairError> {
    Timestamp::from_second(time.timestamp()).map_err(|error| PairError::Certificate(error.to_string()))
}
