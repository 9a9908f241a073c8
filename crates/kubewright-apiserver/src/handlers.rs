//! The handlers of resource requests, by verb.

pub(crate) mod admission_policies;
pub(crate) mod decode;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod pods;
pub(crate) mod request;
pub(crate) mod tokens;
pub(crate) mod watch;
pub(crate) mod webhooks;
pub(crate) mod write;
