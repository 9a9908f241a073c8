//! The signals that end the program, so that it removes what it created.

use std::io;

use anyhow::{Error, anyhow};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receives SIGINT and SIGTERM, also those that arrive before they are awaited.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for a signal.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for a signal, and returns it as an error.
    pub(crate) async fn interrupted(&mut self) -> Error {
        self.received().await;
        anyhow!("interrupted")
    }
}
