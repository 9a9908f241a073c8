//! A real control plane for tests: starts and stops etcd and kube-apiserver.
//!
//! The binaries are those in the directory of `KUBEBUILDER_ASSETS`, as with `envtest` of controller-runtime. Its tool
//! [setup-envtest](https://book.kubebuilder.io/reference/envtest) downloads them. [`ControlPlane`] runs them until it
//! is dropped; `Environment`, with the feature `client`, has a client too.
//!
//! Guarantees:
//! - A control plane that is dropped, or that fails to start, leaves no processes and no files behind.
//! - All servers listen on the loopback interface only, and every file with a key or a token has mode 0600.

mod assets;
mod control_plane;
mod credentials;
#[cfg(feature = "client")]
mod environment;
mod error;
mod identity;
mod process;
mod readiness;
mod servers;

pub use assets::{ASSETS_VARIABLE, Assets};
pub use control_plane::ControlPlane;
#[cfg(feature = "client")]
pub use environment::Environment;
pub use error::Error;
pub use servers::SERVICE_ACCOUNT_ISSUER;

#[doc(hidden)]
pub mod internals {
    //! What the tool `envtest` of this repository and the tests use. Not a public interface.

    pub use crate::{
        assets::directory_with,
        control_plane::{Launch, START_ATTEMPTS, retry_taken_ports},
        credentials::Credentials,
        identity::Identity,
        process::{Process, last_lines},
        readiness::{POLL, Wait, check},
        servers::{Ports, flag, free_ports, loopback},
    };
}
