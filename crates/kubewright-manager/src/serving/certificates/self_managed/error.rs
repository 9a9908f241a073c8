//! The errors of self-managed certificates.

use std::time::Duration;

use kubewright_runtime::Error;

/// Certificates that the operator cannot manage.
#[derive(Debug, thiserror::Error)]
pub enum SelfManagedError {
    /// A request failed.
    #[error(transparent)]
    Request(#[from] Error),
    /// A certificate cannot be issued.
    #[error("cannot issue a certificate: {reason}")]
    Issue {
        /// The error of the library.
        reason: String,
    },
    /// The CA bundle of an object is managed by cert-manager.
    #[error(
        "{object} has the annotation `{annotation}`, so that cert-manager writes its CA bundle; remove the annotation, \
         or mount the certificate of cert-manager and pass its directory to the operator"
    )]
    ForeignAuthority {
        /// The resource and the name of the object.
        object: String,
        /// The annotation.
        annotation: String,
    },
    /// A lifetime is too short.
    #[error("{what} of {value:?} is too short: expected at least {minimum:?}")]
    TooShort {
        /// The option.
        what: &'static str,
        /// The value.
        value: Duration,
        /// The minimum.
        minimum: Duration,
    },
    /// A URL cannot be that of a server.
    #[error("invalid URL `{url}` of webhooks: expected `https://`, a host and a port without a path")]
    Url {
        /// The URL.
        url: String,
    },
    /// The watch of the Secret ended.
    #[error("{0}")]
    Watch(String),
}
