//! Keys, certificates, the token of the administrator, and the kubeconfig with them.

use std::{
    fs::OpenOptions,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use uuid::Uuid;

use crate::error::{Error, Result};

/// The names of an API server outside and inside of a cluster.
const SERVER_NAMES: [&str; 6] = [
    "127.0.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// The files that an API server is started with: all in one directory, and readable by their owner only.
pub struct Credentials {
    /// The certificate of the authority.
    pub authority_certificate: PathBuf,
    /// The certificate of the servers.
    pub server_certificate: PathBuf,
    /// The key of the servers.
    pub server_key: PathBuf,
    /// The key that signs the tokens of service accounts.
    pub service_account_key: PathBuf,
    /// The key that verifies the tokens of service accounts.
    pub service_account_public_key: PathBuf,
    /// The tokens that the API server accepts.
    pub tokens: PathBuf,
    authority: String,
    token: String,
}

impl Credentials {
    /// Creates credentials and writes them to `dir`.
    pub fn create(dir: &Path) -> Result<Credentials> {
        let cannot_create = |what| move |error: rcgen::Error| Error::Certificate { what, source: error.into() };
        let (authority, issuer) = authority().map_err(cannot_create("a certificate authority"))?;
        let (server, server_key) = server(&issuer).map_err(cannot_create("the server certificate"))?;
        let service_account = KeyPair::generate().map_err(cannot_create("the service account key"))?;
        let token = random_token();
        let file = |name: &str, content: &str| write_private(dir.join(name), content);
        Ok(Credentials {
            authority_certificate: file("ca.crt", &authority.pem())?,
            server_certificate: file("apiserver.crt", &server.pem())?,
            server_key: file("apiserver.key", &server_key.serialize_pem())?,
            service_account_key: file("service-account.key", &service_account.serialize_pem())?,
            service_account_public_key: file("service-account.pub", &service_account.public_key_pem())?,
            tokens: file("tokens.csv", &format!("{token},admin,admin,\"system:masters\"\n"))?,
            authority: authority.pem(),
            token,
        })
    }

    /// Writes the administrator's kubeconfig for the API server at this port of the loopback interface.
    pub fn write_kubeconfig(&self, path: PathBuf, port: u16) -> Result<PathBuf> {
        write_private(path, &kubeconfig(port, &self.authority, &self.token))
    }
}

fn authority() -> Result<(Certificate, Issuer<'static, KeyPair>), rcgen::Error> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "envtest");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let certificate = params.self_signed(&key)?;
    Ok((certificate, Issuer::new(params, key)))
}

fn server(issuer: &Issuer<'_, KeyPair>) -> Result<(Certificate, KeyPair), rcgen::Error> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(SERVER_NAMES.map(str::to_owned))?;
    params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok((params.signed_by(&key, issuer)?, key))
}

/// Returns a token of 244 random bits: a version 4 UUID has 122.
fn random_token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Formats a kubeconfig. A number, base64 and hexadecimal digits need no quotes.
fn kubeconfig(port: u16, authority: &str, token: &str) -> String {
    let authority = BASE64_STANDARD.encode(authority);
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: envtest
  cluster:
    server: https://127.0.0.1:{port}
    certificate-authority-data: {authority}
users:
- name: admin
  user:
    token: {token}
contexts:
- name: envtest
  context:
    cluster: envtest
    user: admin
current-context: envtest
"
    )
}

fn write_private(path: PathBuf, content: &str) -> Result<PathBuf> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| file.write_all(content.as_bytes()))
        .map_err(|error| Error::from_io(format!("cannot write {}", path.display()), error))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn every_file_is_readable_by_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let credentials = Credentials::create(dir.path()).unwrap();
        credentials.write_kubeconfig(dir.path().join("kubeconfig"), 1).unwrap();
        let modes: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o777)
            .collect();
        assert_eq!(modes, [0o600; 7]);
    }

    #[test]
    fn the_kubeconfig_contains_the_authority_and_the_token() {
        let text = kubeconfig(6443, "CA", "t0ken");
        assert!(text.contains("server: https://127.0.0.1:6443\n"), "{text}");
        assert!(text.contains("certificate-authority-data: Q0E=\n"), "{text}");
        assert!(text.contains("token: t0ken\n"), "{text}");
    }

    #[test]
    fn tokens_differ() {
        assert_ne!(random_token(), random_token());
        assert_eq!(random_token().len(), 64);
    }
}
