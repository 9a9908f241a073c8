//! A certificate authority, which issues the certificates of a server and of its clients.

use std::{
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};

use crate::server::serve::{TlsError, keys, tls::PemPair};

/// The common name of the authority. A restarted server issues certificates in the same name.
const NAME: &str = "kubewright-apiserver-ca";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The lifetime of the certificate of the authority, as in kubeadm.
const AUTHORITY_LIFETIME: Duration = DAY.saturating_mul(3650);
/// The lifetime of the certificates that the authority issues, as in kubeadm.
const LIFETIME: Duration = DAY.saturating_mul(365);
/// A certificate is valid before its creation, for clients whose clocks are behind.
const BACKDATE: Duration = Duration::from_secs(60 * 60);

/// The names of the service `kubernetes`, and its address.
const SERVICE_NAMES: [&str; 5] =
    ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "10.0.0.1"];
const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A certificate authority. Its certificate is part of kubeconfigs.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Creates an authority with a new key.
    ///
    /// # Errors
    /// The key cannot be generated.
    pub fn generate() -> Result<Self, TlsError> {
        Self::new(keys::generate()?)
    }

    /// Creates an authority with the key `ca.key` of a directory, which is generated if it does not exist. Certificates
    /// of an authority with the same key remain valid.
    ///
    /// # Errors
    /// The file cannot be read, parsed or written.
    pub fn open(directory: &Path) -> Result<Self, TlsError> {
        Self::new(keys::open(&directory.join("ca.key"))?)
    }

    fn new(key: KeyPair) -> Result<Self, TlsError> {
        let mut params = params(NAME, AUTHORITY_LIFETIME);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key).map_err(TlsError::generate)?.pem();
        Ok(Self { certificate, issuer: Issuer::new(params, key) })
    }

    /// Returns the certificate of the authority as PEM.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Issues a serving certificate for these DNS names and IP addresses, in addition to those of loopback interfaces
    /// and of the service `kubernetes`.
    ///
    /// # Errors
    /// A name is invalid.
    pub fn serving(&self, names: impl IntoIterator<Item = String>) -> Result<PemPair, TlsError> {
        let known = LOOPBACK_NAMES.into_iter().chain(SERVICE_NAMES).map(str::to_owned);
        let mut all: Vec<String> = known.collect();
        for name in names {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        let named = CertificateParams::new(all).map_err(TlsError::generate)?;
        let mut params = params("kube-apiserver", LIFETIME);
        params.subject_alt_names = named.subject_alt_names;
        self.issue(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Issues the certificate of a user in a group, such as `admin` in `system:masters`.
    ///
    /// # Errors
    /// A name is invalid.
    pub fn client(&self, user: &str, group: &str) -> Result<PemPair, TlsError> {
        let mut params = params(user, LIFETIME);
        params.distinguished_name.push(DnType::OrganizationName, group);
        self.issue(params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn issue(&self, mut params: CertificateParams, purpose: ExtendedKeyUsagePurpose) -> Result<PemPair, TlsError> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![purpose];
        params.use_authority_key_identifier_extension = true;
        let key = keys::generate()?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(TlsError::generate)?;
        Ok(PemPair { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// Without the key.
impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// Returns the parameters of a certificate that is valid from now on.
fn params(common_name: &str, lifetime: Duration) -> CertificateParams {
    let mut params = CertificateParams::default();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = date_time_ymd(1970, 1, 1);
    (params.not_before, params.not_after) = (epoch + now.saturating_sub(BACKDATE), epoch + (now + lifetime));
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_an_authority_persists() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = [(), ()].map(|()| Authority::open(directory.path()).unwrap());
        assert_eq!(first.issuer.key().serialize_pem(), second.issuer.key().serialize_pem());
        assert_ne!(first.issuer.key().serialize_pem(), Authority::generate().unwrap().issuer.key().serialize_pem());
    }

    #[test]
    fn an_invalid_name_is_an_error() {
        let error = Authority::generate().unwrap().serving(["ä".to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with("cannot create a certificate: "), "{error}");
    }

    #[test]
    fn keys_are_not_formatted() {
        let authority = Authority::generate().unwrap();
        let pair = authority.client("admin", "system:masters").unwrap();
        for text in [format!("{authority:?}"), format!("{pair:?}")] {
            assert!(text.contains("BEGIN CERTIFICATE") && !text.contains("PRIVATE KEY"), "{text}");
        }
    }
}
