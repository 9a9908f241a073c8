//! Where this crate keeps things, and the Kubernetes version that names the place.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The one place that says which Kubernetes is built.
const GO_MOD: &str = include_str!("../go.mod");

/// The Go module: the directory `go build` runs in.
pub(crate) fn module_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where everything this crate writes and keeps is: `<target>/envtest`.
pub(crate) fn home() -> PathBuf {
    target_dir(env::var_os("CARGO_TARGET_DIR").map(PathBuf::from)).join("envtest")
}

/// Where the binaries built from this go.mod are.
pub(crate) fn built_assets() -> Result<PathBuf> {
    Ok(home().join(kubernetes_version()?).join("bin"))
}

/// The Kubernetes version go.mod asks for, such as `v1.36.3`.
pub(crate) fn kubernetes_version() -> Result<&'static str> {
    required_version(GO_MOD, "k8s.io/kubernetes").context("go.mod does not require k8s.io/kubernetes")
}

/// `CARGO_TARGET_DIR` if set; a relative one counts from the workspace root, because tests run in their package.
fn target_dir(configured: Option<PathBuf>) -> PathBuf {
    let root = workspace_root();
    match configured {
        Some(dir) if !dir.as_os_str().is_empty() => root.join(dir),
        _ => root.join("target"),
    }
}

fn workspace_root() -> &'static Path {
    module_dir().ancestors().nth(2).expect("the crate is two directories below the workspace root")
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
    fn this_go_mod_names_a_version() {
        assert!(kubernetes_version().unwrap().starts_with("v1."));
    }

    #[test]
    fn a_relative_target_dir_counts_from_the_workspace_root() {
        assert_eq!(target_dir(Some("elsewhere".into())), workspace_root().join("elsewhere"));
        assert_eq!(target_dir(Some("".into())), workspace_root().join("target"));
        assert_eq!(target_dir(None), workspace_root().join("target"));
    }
}
