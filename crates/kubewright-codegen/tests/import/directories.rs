//! The directories of the checkout that the tests read.

use std::{env, path::PathBuf};

/// Returns the directory of this package.
///
/// It is determined at run time. Checkouts with one target directory share their binaries, so that a path that is
/// compiled in can belong to another checkout.
pub(crate) fn package() -> PathBuf {
    PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for tests"))
}
