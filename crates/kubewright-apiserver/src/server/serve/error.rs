//! The errors of certificates and keys.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The error for certificates and keys that cannot be used. It contains no part of a key.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// A file with a key cannot be parsed.
    #[error("cannot parse `{}`: {reason}; remove the file so that a key is generated", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A certificate or a key is invalid.
    #[error("invalid {what}: {reason}")]
    Invalid {
        /// The certificate or key.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A certificate cannot be created.
    #[error("cannot create a certificate: {reason}")]
    Generate {
        /// The error of the library.
        reason: String,
    },
}

impl TlsError {
    pub(super) fn read(path: &Path, error: &io::Error) -> Self {
        Self::Read { path: path.to_owned(), reason: error.to_string() }
    }

    pub(super) fn write(path: &Path, error: &io::Error) -> Self {
        Self::Write { path: path.to_owned(), reason: error.to_string() }
    }

    pub(super) fn parse(path: &Path, reason: impl ToString) -> Self {
        Self::Parse { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(super) fn invalid(what: &'static str, reason: impl ToString) -> Self {
        Self::Invalid { what, reason: reason.to_string() }
    }

    pub(super) fn generate(reason: rcgen::Error) -> Self {
        Self::Generate { reason: reason.to_string() }
    }
}
