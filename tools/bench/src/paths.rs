//! Where this crate is, and where it writes.

use std::env;
use std::path::{Path, PathBuf};

/// The directory of this crate, which is also the Go module that pins the Go tools.
pub(crate) fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The workspace that is measured.
pub(crate) fn workspace_root() -> &'static Path {
    crate_dir().ancestors().nth(2).expect("the crate is two directories below the workspace root")
}

/// Where cargo puts what it builds of the workspace.
pub(crate) fn target_dir() -> PathBuf {
    // A relative one counts from where cargo is started, and we start it in the root.
    workspace_root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Where everything that a bench writes is.
pub(crate) fn home() -> PathBuf {
    target_dir().join("bench")
}
