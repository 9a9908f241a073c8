//! The server as a program: on a socket, and on disk

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and the helpers of tests are part of them")]

mod data_dir;
mod program;
mod sockets;
