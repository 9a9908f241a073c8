//! A certificate and its key in PEM files.

use std::{
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::pki_types::{
    CertificateDer, PrivateKeyDer,
    pem::{Error as PemError, PemObject},
};

use super::{
    CertificateError,
    pair::{Pair, PairError},
};

const CERTIFICATE: &str = "certificate";
const KEY: &str = "private key";

/// The maximum size of a file: that of a Secret.
const MAX_SIZE: u64 = 1 << 20;

/// The paths of a certificate and its key.
pub(super) struct Files {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// The contents of both files.
#[derive(Hash)]
pub(super) struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Contents {
    /// Returns a number that differs if the contents differ.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

impl Files {
    pub(super) fn read(&self) -> Result<Contents, CertificateError> {
        Ok(Contents { certificate: read(CERTIFICATE, &self.certificate)?, key: read(KEY, &self.key)? })
    }

    /// Parses the contents, and validates that the key matches.
    pub(super) fn parse(&self, contents: &Contents) -> Result<Pair, CertificateError> {
        let chain = CertificateDer::pem_slice_iter(&contents.certificate).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| parse_error(CERTIFICATE, &self.certificate, pem_reason(&error)))?;
        if chain.is_empty() {
            let reason = "it contains no section `CERTIFICATE` in PEM format".to_owned();
            return Err(parse_error(CERTIFICATE, &self.certificate, reason));
        }
        let key = PrivateKeyDer::from_pem_slice(&contents.key);
        let key = key.map_err(|error| parse_error(KEY, &self.key, pem_reason(&error)))?;
        Pair::new(chain, key).map_err(|error| match error {
            PairError::Certificate(reason) => parse_error(CERTIFICATE, &self.certificate, reason),
            PairError::Key(reason) => parse_error(KEY, &self.key, reason),
            PairError::Mismatch => {
                CertificateError::KeyMismatch { certificate: self.certificate.clone(), key: self.key.clone() }
            }
        })
    }
}

fn read(content: &'static str, path: &Path) -> Result<Vec<u8>, CertificateError> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_SIZE + 1).read_to_end(&mut bytes)?;
        match u64::try_from(bytes.len()) {
            Ok(..=MAX_SIZE) => Ok(bytes),
            _ => Err(io::Error::other("the file exceeds 1 MiB")),
        }
    };
    read().map_err(|source| CertificateError::Read { content, path: path.to_owned(), source: Arc::new(source) })
}

fn parse_error(content: &'static str, path: &Path, reason: String) -> CertificateError {
    CertificateError::Parse { content, path: path.to_owned(), reason }
}

/// Describes an error without the contents of the file, which can be secret.
fn pem_reason(error: &PemError) -> String {
    match error {
        PemError::NoItemsFound => "it contains no section `PRIVATE KEY` in PEM format".to_owned(),
        PemError::MissingSectionEnd { .. } => "a section has no end in PEM format".to_owned(),
        PemError::IllegalSectionStart { .. } => "a section has an invalid first line in PEM format".to_owned(),
        PemError::Base64Decode(_) => "a section is invalid base64".to_owned(),
        _ => "it is invalid in PEM format".to_owned(),
    }
}
