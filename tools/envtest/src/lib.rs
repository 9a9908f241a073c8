//! A real control plane for tests: builds, starts and stops etcd and kube-apiserver.
//!
//! [`find`] and [`build`] get the binaries, [`ControlPlane`] runs them for as long as it is held, [`up`] and [`down`] run
//! them for longer than one process. A test suite begins with [`find_or_skip`].
//!
//! Promises:
//! - A control plane that is dropped, or that fails to start, leaves no process and no file behind.
//! - Nothing listens on anything but the loopback interface, and every file with a key or a token in it is 0600.
//! - [`down`] never signals a process that [`up`] did not start, even when its pid has been reused.

mod assets;
mod control_plane;
mod credentials;
mod identity;
mod lock;
mod paths;
mod process;
mod progress;
mod readiness;
mod servers;
mod standing;
mod state;
mod suite;

pub use assets::{Assets, HOW_TO_GET, build, find, find_or_skip};
pub use control_plane::ControlPlane;
pub use standing::{down, up};
pub use state::State;
pub use suite::exit_code;
