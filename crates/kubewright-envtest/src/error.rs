//! The error of a control plane.

use std::{error::Error as StdError, fmt, io, iter, path::PathBuf, process::ExitStatus};

use crate::{assets::ASSETS_VARIABLE, readiness::TIMEOUT};

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// A control plane that cannot be started or stopped.
///
/// `Debug` prints the message with those of its sources, since tests print the errors that they return with it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The environment variable [`ASSETS_VARIABLE`] is not set or empty.
    #[error("{ASSETS_VARIABLE} is not set to a directory with etcd, kube-apiserver and kubectl")]
    AssetsNotSet,
    /// The directory that the environment variable [`ASSETS_VARIABLE`] names is not usable.
    #[error("{ASSETS_VARIABLE} is set but not usable")]
    AssetsNotUsable(#[source] Box<Error>),
    /// A directory lacks binaries.
    #[error("{} lacks {}", dir.display(), missing.join(", "))]
    MissingBinaries {
        /// The directory.
        dir: PathBuf,
        /// The names of the binaries.
        missing: Vec<String>,
    },
    /// A control plane does not start.
    #[error("cannot start the control plane")]
    Start(#[source] Box<Error>),
    /// A server ended unexpectedly.
    #[error("{name} ended ({status}); the end of its log:\n{log}")]
    ProcessEnded {
        /// The name of the server.
        name: &'static str,
        /// Its exit status.
        status: ExitStatus,
        /// The end of its log.
        log: String,
    },
    /// A server is not ready within a minute.
    #[error("not ready within {} s; the end of its log:\n{log}", TIMEOUT.as_secs())]
    NotReady {
        /// The end of its log.
        log: String,
    },
    /// The start was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// An operation on a file, a process or a port failed.
    #[error("{message}")]
    Io {
        /// The operation, such as `cannot write /tmp/ca.crt`.
        message: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A certificate or a key cannot be created.
    #[error("cannot create {what}")]
    Certificate {
        /// The certificate or the key.
        what: &'static str,
        /// The error of the library.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A client of a control plane cannot be created.
    #[error(transparent)]
    Client(Box<dyn StdError + Send + Sync>),
}

impl Error {
    pub(crate) fn from_io(message: impl Into<String>, source: io::Error) -> Self {
        Self::Io { message: message.into(), source }
    }

    /// Reports whether a server ended because its port was in use.
    pub(crate) fn port_was_taken(&self) -> bool {
        matches!(self, Self::ProcessEnded { log, .. } if log.contains("address already in use"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        iter::successors(self.source(), |&error| error.source()).try_for_each(|error| write!(f, ": {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_prints_the_sources() {
        let error = Error::from_io("cannot write ca.crt", io::Error::other("no space left"));
        let error = Error::Start(Box::new(error));
        assert_eq!(format!("{error:?}"), "cannot start the control plane: cannot write ca.crt: no space left");
    }
}
