//! The server as a program: on a socket and on disk.

mod data_dir;
mod failing_disk;
mod limits;
#[cfg(target_os = "linux")]
mod memory;
mod program;
mod restarts;
mod sockets;
mod tls;
mod webhooks;
