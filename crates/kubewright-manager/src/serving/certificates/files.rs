//! A certificate and its key in PEM files.

use std::{
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    CertificateError,
    pair::{Pair, PairError},
};

pub(super) const CERTIFICATE: &str = "certificate";
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
        Pair::from_pem(&contents.certificate, &contents.key).map_err(|error| match error {
            PairError::Certificate(reason) => parse_error(CERTIFICATE, &self.certificate, reason),
            PairError::Key(reason) => parse_error(KEY, &self.key, reason),
            PairError::Mismatch => {
                CertificateError::KeyMismatch { certificate: self.certificate.clone(), key: self.key.clone() }
            }
        })
    }
}

pub(super) fn read(content: &'static str, path: &Path) -> Result<Vec<u8>, CertificateError> {
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

pub(super) fn parse_error(content: &'static str, path: &Path, reason: String) -> CertificateError {
    CertificateError::Parse { content, path: path.to_owned(), reason }
}
