//! The end of credentials that a client cannot renew.

use std::time::Duration;

use jiff::Timestamp;
use kubewright_runtime::CancellationToken;
use tokio::time::sleep;

/// The name of the runnable that waits for it.
pub(super) const CREDENTIALS: &str = "client-credentials";

/// The certificate that a plugin of the kubeconfig issued has expired. kube requests another one for a new client only.
#[derive(Debug, thiserror::Error)]
#[error(
    "the certificate of the client expired at {0}; the plugin of the kubeconfig issues another one for a new process"
)]
pub(super) struct CredentialsExpired(Timestamp);

/// Waits until the credentials expire.
pub(super) async fn wait(valid_until: Timestamp, stop: CancellationToken) -> Result<(), CredentialsExpired> {
    tracing::warn!(%valid_until, "the process ends with the certificate of its client, which cannot be renewed");
    let remaining = Duration::try_from(valid_until.duration_since(Timestamp::now())).unwrap_or_default();
    match stop.run_until_cancelled(sleep(remaining)).await {
        Some(()) => Err(CredentialsExpired(valid_until)),
        None => Ok(()),
    }
}
