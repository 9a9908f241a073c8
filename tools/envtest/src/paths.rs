//! The directories of this crate.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// The directory of this crate in the workspace.
const MODULE: &str = "tools/envtest";

/// Returns the root directory of the workspace in which the running command was started.
///
/// It is determined at run time. Checkouts with one `CARGO_TARGET_DIR` share their binaries, so that a path that is
/// compiled in can belong to another checkout. `cargo run` and `cargo test` set `CARGO_MANIFEST_DIR`; without it the
/// current directory counts.
pub fn workspace_root() -> Result<PathBuf> {
    let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let starts = manifest_dir.into_iter().chain(env::current_dir());
    starts.into_iter().find_map(|start| enclosing_workspace(&start)).context(
        "not in a checkout of this workspace: no Cargo.toml with [workspace] and no tools/envtest above CARGO_MANIFEST_DIR \
         or the current directory; run it with cargo in the checkout",
    )
}

fn enclosing_workspace(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|dir| is_workspace_root(dir)).map(Path::to_owned)
}

fn is_workspace_root(dir: &Path) -> bool {
    let declares_workspace = |manifest: String| manifest.lines().any(|line| line.trim() == "[workspace]");
    dir.join(MODULE).join("Cargo.toml").is_file()
        && fs::read_to_string(dir.join("Cargo.toml")).is_ok_and(declares_workspace)
}

/// Returns the directory of this crate, which contains its Go modules.
pub(crate) fn crate_dir() -> Result<PathBuf> {
    Ok(workspace_root()?.join(MODULE))
}

/// Returns the target directory of the workspace in which the running command was started.
pub fn target_dir() -> Result<PathBuf> {
    let configured = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(resolve_target_dir(&workspace_root()?, configured))
}

/// Returns `<target>/envtest`, the directory of all files that this crate creates.
pub(crate) fn home() -> Result<PathBuf> {
    Ok(target_dir()?.join("envtest"))
}

/// Returns `CARGO_TARGET_DIR` if set, resolved against the workspace root because tests run in the directories of their
/// packages.
fn resolve_target_dir(root: &Path, configured: Option<PathBuf>) -> PathBuf {
    match configured {
        Some(dir) if !dir.as_os_str().is_empty() => root.join(dir),
        _ => root.join("target"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_target_dir_is_resolved_against_the_workspace_root() {
        let root = Path::new("/root");
        assert_eq!(resolve_target_dir(root, Some("elsewhere".into())), Path::new("/root/elsewhere"));
        assert_eq!(resolve_target_dir(root, Some("/absolute".into())), Path::new("/absolute"));
        assert_eq!(resolve_target_dir(root, Some("".into())), Path::new("/root/target"));
        assert_eq!(resolve_target_dir(root, None), Path::new("/root/target"));
    }

    #[test]
    fn the_workspace_root_is_the_closest_workspace_with_this_crate() {
        let checkout = tempfile::tempdir().unwrap();
        let root = checkout.path();
        let inner = root.join("examples/inner/src");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(root.join(MODULE)).unwrap();
        fs::write(root.join("examples/inner/Cargo.toml"), "[workspace]\n").unwrap();
        fs::write(root.join(MODULE).join("Cargo.toml"), "[package]\n").unwrap();
        assert_eq!(enclosing_workspace(&inner), None);
        fs::write(root.join("Cargo.toml"), "[workspace]\nmembers = []\n").unwrap();
        assert_eq!(enclosing_workspace(&inner).as_deref(), Some(root));
        assert_eq!(enclosing_workspace(root).as_deref(), Some(root));
    }
}
