//! Authentication: client certificates, bearer tokens, and the tokens of service accounts.
//!
//! The rules are those of `pkg/kubeapiserver/authenticator` and `pkg/serviceaccount` of Kubernetes 1.36.

pub(crate) mod authenticator;
pub(crate) mod client_certificate;
#[cfg(test)]
mod fixture;
mod jwt;
pub(crate) mod options;
pub(crate) mod service_accounts;
pub(crate) mod signing_key;
pub(crate) mod static_tokens;
