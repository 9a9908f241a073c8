//! The server as a program: on a socket and on disk.

mod data_dir;
mod failing_disk;
mod limits;
mod program;
mod restarts;
mod sockets;
