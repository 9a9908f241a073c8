//! The issue of certificates: ECDSA on P-256.

use std::time::Duration;

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SerialNumber,
};

use super::{
    super::self_signed::{later, set_validity},
    material::{Certificate, Credentials, PrivateKey},
};

/// Issues certificates. Tests of the rotation replace it.
pub(super) trait Issue {
    /// Creates an authority with a new key.
    fn authority(&self, now: Timestamp, lifetime: Duration) -> Result<Credentials, String>;

    /// Creates a certificate of a server with a new key, signed by an authority.
    fn leaf(
        &self,
        authority: &Credentials,
        names: &[String],
        now: Timestamp,
        not_after: Timestamp,
    ) -> Result<Credentials, String>;
}

/// Issues certificates with the library rcgen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rcgen;

impl Issue for Rcgen {
    fn authority(&self, now: Timestamp, lifetime: Duration) -> Result<Credentials, String> {
        let issue = || {
            let key = KeyPair::generate()?;
            // The name is unique, so that the issuer of a certificate is found in a bundle.
            let mut params = authority(&format!("webhook-ca-{:016x}", fastrand::u64(1..)));
            set_validity(&mut params, now, later(now, lifetime));
            Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
        };
        credentials(issue())
    }

    fn leaf(
        &self,
        issuer: &Credentials,
        names: &[String],
        now: Timestamp,
        not_after: Timestamp,
    ) -> Result<Credentials, String> {
        let issue = || {
            let signing_key = KeyPair::from_pem(&issuer.key.0)?;
            let issuer = Issuer::new(authority(&issuer.certificate.subject), signing_key);
            let key = KeyPair::generate()?;
            let mut params = CertificateParams::new(names.to_vec())?;
            set_validity(&mut params, now, not_after);
            params.serial_number = Some(serial_number());
            params.distinguished_name.push(DnType::CommonName, "webhook");
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            params.use_authority_key_identifier_extension = true;
            Ok((params.signed_by(&key, &issuer)?.pem(), key.serialize_pem()))
        };
        credentials(issue())
    }
}

/// Returns the parameters of an authority of this name. It signs certificates of servers only.
fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.serial_number = Some(serial_number());
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params
}

fn serial_number() -> SerialNumber {
    SerialNumber::from(fastrand::u64(1..))
}

fn credentials(issued: Result<(String, String), rcgen::Error>) -> Result<Credentials, String> {
    let (certificate, key) = issued.map_err(|error| error.to_string())?;
    Ok(Credentials { certificate: Certificate::parse(&certificate)?, key: PrivateKey(key) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::{
        RootCertStore,
        client::{WebPkiServerVerifier, danger::ServerCertVerifier},
        crypto::ring,
        pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    };

    use super::*;

    fn der(pem: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
    }

    /// Verifies the certificate of a server as a TLS client does.
    fn verify(authorities: &[&Credentials], leaf: &Credentials, name: &'static str) -> Result<(), rustls::Error> {
        let mut roots = RootCertStore::empty();
        authorities.iter().for_each(|authority| roots.add(der(&authority.certificate.pem)).unwrap());
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        let name = ServerName::try_from(name).unwrap();
        verifier.verify_server_cert(&der(&leaf.certificate.pem), &[], &name, &[], UnixTime::now()).map(drop)
    }

    #[test]
    fn an_authority_signs_certificates_of_servers_only() {
        let authority = Rcgen.authority(Timestamp::now(), Duration::from_hours(1)).unwrap();
        let authority = der(&authority.certificate.pem);
        let (_, parsed) = x509_parser::parse_x509_certificate(&authority).unwrap();
        let usage = parsed.extended_key_usage().unwrap().unwrap().value;
        assert!(usage.server_auth && !usage.client_auth && !usage.any);
    }

    #[test]
    fn clients_that_trust_the_authority_verify_its_certificates() {
        let (now, lifetime) = (Timestamp::now(), Duration::from_hours(1));
        let (old, new) = (Rcgen.authority(now, lifetime).unwrap(), Rcgen.authority(now, lifetime).unwrap());
        let names = ["hooks.system.svc".to_owned(), "127.0.0.1".to_owned()];
        let leaf = |authority| Rcgen.leaf(authority, &names, now, later(now, lifetime)).unwrap();
        for authority in [&old, &new] {
            verify(&[&old, &new], &leaf(authority), "hooks.system.svc").unwrap();
            verify(&[&old, &new], &leaf(authority), "127.0.0.1").unwrap();
        }
        assert!(verify(&[&old], &leaf(&new), "hooks.system.svc").is_err());
        assert!(verify(&[&old], &leaf(&old), "other.system.svc").is_err());
    }

    #[test]
    fn keys_are_ecdsa_on_p_256() {
        let authority = Rcgen.authority(Timestamp::now(), Duration::from_hours(1)).unwrap();
        let key = KeyPair::from_pem(&authority.key.0).unwrap();
        assert!(key.is_compatible(&rcgen::PKCS_ECDSA_P256_SHA256));
    }
}
