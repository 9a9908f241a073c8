//! The server as a program: on a socket, and on disk

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod data_dir;
mod failing_disk;
mod program;
mod restarts;
mod sockets;
