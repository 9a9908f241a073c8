//! Self-signed certificates.

use std::time::Duration;

use jiff::Timestamp;
use rcgen::{
    CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, SerialNumber, date_time_ymd,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::{
    CertificateError,
    pair::{Pair, PairError},
};

/// The lifetime of a certificate, as in controller-runtime.
const LIFETIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long a certificate is valid before its creation.
const BACKDATE: Duration = Duration::from_secs(60 * 60);

/// Sets the validity from a time on. The certificate is valid before, for clients whose clocks are behind.
pub(super) fn set_validity(params: &mut CertificateParams, begin: Timestamp, end: Timestamp) {
    let epoch = date_time_ymd(1970, 1, 1);
    let since_epoch = |time: Timestamp| Duration::from_secs(u64::try_from(time.as_second()).unwrap_or_default());
    params.not_before = epoch + since_epoch(begin).saturating_sub(BACKDATE);
    params.not_after = epoch + since_epoch(end);
}

/// Returns the time after a duration.
pub(super) fn later(time: Timestamp, duration: Duration) -> Timestamp {
    time.saturating_add(duration).unwrap_or(Timestamp::MAX)
}

/// The names of a self-signed certificate.
pub(super) struct SelfSigned {
    pub(super) names: Vec<String>,
}

impl SelfSigned {
    /// Creates a certificate with a new key.
    pub(super) fn generate(&self) -> Result<Pair, CertificateError> {
        let error = |error: rcgen::Error| CertificateError::Generate { reason: error.to_string() };
        let mut params = CertificateParams::new(self.names.clone()).map_err(error)?;
        let now = Timestamp::now();
        set_validity(&mut params, now, later(now, LIFETIME));
        params.serial_number = Some(SerialNumber::from(fastrand::u64(1..)));
        params.distinguished_name.push(DnType::CommonName, self.names.first().map_or("self-signed", String::as_str));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().map_err(error)?;
        let certificate = params.self_signed(&key).map_err(error)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Pair::new(vec![certificate.der().clone()], key).map_err(|error| match error {
            PairError::Certificate(reason) | PairError::Key(reason) => CertificateError::Generate { reason },
            PairError::Mismatch => CertificateError::Generate { reason: "the key does not match".to_owned() },
        })
    }

    /// Returns whether two thirds of the lifetime have passed.
    pub(super) fn is_due(&self, pair: &Pair, now: Timestamp) -> bool {
        let (begin, end) = (pair.not_before.as_second(), pair.not_after.as_second());
        now.as_second() >= end - (end - begin) / 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> SelfSigned {
        SelfSigned { names: vec!["localhost".to_owned(), "127.0.0.1".to_owned()] }
    }

    #[test]
    fn a_certificate_is_valid_now_and_for_a_year() {
        let pair = source().generate().unwrap();
        let now = Timestamp::now();
        assert!(pair.not_before < now && now < pair.not_after, "{} {}", pair.not_before, pair.not_after);
        let lifetime = pair.not_after.as_second() - now.as_second();
        assert!((364 * 86_400..=365 * 86_400).contains(&lifetime), "{lifetime}");
    }

    #[test]
    fn a_certificate_is_renewed_after_two_thirds_of_its_lifetime() {
        let pair = source().generate().unwrap();
        let after = |days: i64| Timestamp::from_second(pair.not_before.as_second() + days * 86_400).unwrap();
        assert!(!source().is_due(&pair, after(243)));
        assert!(source().is_due(&pair, after(244)));
        assert!(source().is_due(&pair, after(400)));
    }

    #[test]
    fn an_invalid_name_is_an_error() {
        let error = SelfSigned { names: vec!["ä".to_owned()] }.generate().err().unwrap().to_string();
        assert!(error.starts_with("cannot create a self-signed certificate: "), "{error}");
    }
}
