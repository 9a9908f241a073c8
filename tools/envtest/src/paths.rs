//! The directories of this crate, and the Kubernetes version it builds.

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

/// Returns the directory of the Go module, in which `go build` runs.
pub(crate) fn module_dir() -> Result<PathBuf> {
    Ok(workspace_root()?.join(MODULE))
}

/// Returns `<target>/envtest`, the directory of all files that this crate creates.
pub(crate) fn home() -> Result<PathBuf> {
    let configured = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target_dir(&workspace_root()?, configured).join("envtest"))
}

/// Returns the directory of the binaries that are built from this go.mod.
pub(crate) fn built_assets() -> Result<PathBuf> {
    Ok(home()?.join(kubernetes_version()?).join("bin"))
}

/// Returns the Kubernetes version that go.mod requires, such as `v1.36.3`.
pub(crate) fn kubernetes_version() -> Result<String> {
    let path = module_dir()?.join("go.mod");
    let go_mod = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let version = required_version(&go_mod, "k8s.io/kubernetes");
    version.map(str::to_owned).with_context(|| format!("{} does not require k8s.io/kubernetes", path.display()))
}

/// Returns `CARGO_TARGET_DIR` if set, resolved against the workspace root because tests run in the directories of their
/// packages.
fn target_dir(root: &Path, configured: Option<PathBuf>) -> PathBuf {
    match configured {
        Some(dir) if !dir.as_os_str().is_empty() => root.join(dir),
        _ => root.join("target"),
    }
}

fn required_version<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word == "require");
        (words.next() == Some(module)).then(|| words.next())?.filter(|word| word.starts_with('v'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_require_line() {
        let go_mod = "tool k8s.io/kubernetes/cmd/kubectl\nrequire (\n\tk8s.io/kubernetes v1.2.3 // indirect\n)\n\
                      replace k8s.io/kubernetes => k8s.io/kubernetes v9.9.9\n";
        assert_eq!(required_version(go_mod, "k8s.io/kubernetes"), Some("v1.2.3"));
        assert_eq!(required_version("require a/b v0.1.0", "a/b"), Some("v0.1.0"));
        assert_eq!(required_version("k8s.io/kubernetes => ../k", "k8s.io/kubernetes"), None);
        assert_eq!(required_version(go_mod, "k8s.io/api"), None);
    }

    #[test]
    fn the_go_mod_of_this_crate_requires_a_version() {
        assert!(kubernetes_version().unwrap().starts_with("v1."));
    }

    #[test]
    fn a_relative_target_dir_is_resolved_against_the_workspace_root() {
        let root = Path::new("/root");
        assert_eq!(target_dir(root, Some("elsewhere".into())), Path::new("/root/elsewhere"));
        assert_eq!(target_dir(root, Some("/absolute".into())), Path::new("/absolute"));
        assert_eq!(target_dir(root, Some("".into())), Path::new("/root/target"));
        assert_eq!(target_dir(root, None), Path::new("/root/target"));
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
