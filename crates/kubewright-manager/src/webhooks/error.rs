//! The errors of a set of webhooks.

use crate::serving::router::RouteError;

/// Webhooks that cannot be served, or whose configuration the API server would reject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Two webhooks of a type have one name.
    #[error("two {admission} webhooks have the name `{name}`: set another one with `Webhook::name`")]
    DuplicateName {
        /// `mutating` or `validating`.
        admission: &'static str,
        /// The name.
        name: String,
    },
    /// A name is not a DNS subdomain with at least three labels.
    #[error("invalid name of a webhook `{name}`: expected a DNS subdomain with at least three labels, such as `a.b.c`")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// Two webhooks have one path, or a path does not begin with a slash.
    #[error("invalid path of a webhook: {0}")]
    Path(#[from] RouteError),
    /// An option is invalid.
    #[error("the webhook `{name}` has an invalid option: {message}")]
    InvalidOption {
        /// The name of the webhook.
        name: String,
        /// What is wrong, and what is expected.
        message: &'static str,
    },
}
