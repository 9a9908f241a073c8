//! Authentication: client certificates, bearer tokens, and the tokens of service accounts.
//!
//! The rules are those of `pkg/kubeapiserver/authenticator` and `pkg/serviceaccount` of Kubernetes 1.36.

pub(crate) mod authenticator;
pub(crate) mod client_certificate;
mod jwt;
pub(crate) mod options;
pub(crate) mod service_accounts;
pub(crate) mod signing_key;
mod static_tokens;
