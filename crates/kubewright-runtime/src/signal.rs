//! Termination signals of the process.

use std::io::Result;

/// Waits for SIGTERM or SIGINT, or for Ctrl-C on Windows, from the time of the call. The process then does not end by
/// itself, also not after further signals.
///
/// # Errors
/// Fails if the handler cannot be installed.
pub(crate) fn termination() -> Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(windows)]
    {
        let mut interrupt = tokio::signal::windows::ctrl_c()?;
        Ok(async move { drop(interrupt.recv().await) })
    }
}
