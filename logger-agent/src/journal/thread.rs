//! The thread of the writer.

use std::{
    ops::ControlFlow,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender},
    thread::{self, JoinHandle},
    time::Instant,
};

use tokio_util::sync::CancellationToken;

use super::{Now, error::JournalError, request::Command, writer::Writer};
use crate::file_system::Lock;

/// The maximum number of requests that share an fsync.
const MAX_GROUP: usize = 256;

/// The thread of a journal. It is joined by [`stop`](Self::stop).
#[derive(Debug)]
#[must_use = "the last records are durable after `stop`"]
pub struct JournalThread {
    sender: SyncSender<Command>,
    handle: JoinHandle<Result<(), JournalError>>,
}

impl JournalThread {
    pub(super) fn spawn(
        writer: Writer,
        sender: SyncSender<Command>,
        receiver: Receiver<Command>,
        lock: Lock,
        stopped: CancellationToken,
    ) -> Result<Self, JournalError> {
        let run = move || {
            // Also after a panic.
            let _stopped = stopped.drop_guard();
            let result = run(writer, &receiver);
            drop(lock);
            result
        };
        let handle = thread::Builder::new().name("journal".to_owned()).spawn(run).map_err(JournalError::Thread)?;
        Ok(JournalThread { sender, handle })
    }

    /// Writes the requests in the queue, makes all records durable, and waits for the end of the thread.
    ///
    /// # Errors
    /// Fails if records could not be made durable, or if the thread panicked.
    pub async fn stop(self) -> Result<(), JournalError> {
        tokio::task::spawn_blocking(|| self.join()).await.unwrap_or(Err(JournalError::Panicked))
    }

    /// Does the same as [`stop`](Self::stop). This blocks the calling thread.
    pub(super) fn join(self) -> Result<(), JournalError> {
        // A thread that has ended receives nothing.
        let _ = self.sender.send(Command::Stop);
        self.handle.join().unwrap_or(Err(JournalError::Panicked))
    }
}

fn run(mut writer: Writer, receiver: &Receiver<Command>) -> Result<(), JournalError> {
    loop {
        let now = Instant::now();
        let flow = match receiver.recv_timeout(writer.deadline(now).saturating_duration_since(now)) {
            Ok(command) => receive(&mut writer, command, receiver),
            Err(RecvTimeoutError::Timeout) => ControlFlow::Continue(()),
            Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
        };
        if flow.is_break() {
            return writer.close(Instant::now());
        }
        writer.tick(Instant::now());
    }
}

/// Processes a command and those that wait behind it, so that they share an fsync.
fn receive(writer: &mut Writer, command: Command, receiver: &Receiver<Command>) -> ControlFlow<()> {
    for command in std::iter::once(command).chain(receiver.try_iter()).take(MAX_GROUP) {
        match command {
            Command::Append(request) => writer.append(request, Now::system()),
            Command::Stop => return ControlFlow::Break(()),
        }
    }
    ControlFlow::Continue(())
}
