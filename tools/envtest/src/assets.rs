//! The binaries of the control plane, of the components beside it, and of tools: found, or built from the Go modules of
//! this crate.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail, ensure};
use kubewright_envtest::Assets;

use crate::module::{COMPONENTS, CONTROL_PLANE, HELM, Module, OPERATOR_VERIFY, PROMTOOL};

/// The help in messages about missing binaries.
pub const HOW_TO_GET: &str = "get it with: cargo xtask envtest build";
/// The help in messages about missing [`ComponentAssets`].
pub const HOW_TO_GET_COMPONENTS: &str = "get them with: cargo xtask envtest build components";
/// The help in messages about a missing promtool.
pub const HOW_TO_GET_PROMTOOL: &str = "get it with: cargo xtask envtest build promtool";
/// The help in messages about a missing helm.
pub const HOW_TO_GET_HELM: &str = "get it with: cargo xtask envtest build helm";
/// The help in messages about a missing operator-verify.
pub const HOW_TO_GET_OPERATOR_VERIFY: &str = "get it with: cargo xtask envtest build operator-verify";

const REQUIRE_VARIABLE: &str = "KUBEWRIGHT_REQUIRE_CONTROL_PLANE";
const SKIP_VARIABLE: &str = "KUBEWRIGHT_SKIP_CONTROL_PLANE";

/// Returns the binaries in `KUBEBUILDER_ASSETS` if that is set, otherwise those that [`build`] built; `None` if there
/// are none.
///
/// Fails if `KUBEBUILDER_ASSETS` lacks a binary, and names it.
pub fn find() -> Result<Option<Assets>> {
    if let Some(assets) = Assets::from_env()? {
        return Ok(Some(assets));
    }
    Ok(CONTROL_PLANE.find_built()?.map(|dir| Assets::in_dir(&dir)).transpose()?)
}

/// Returns the binaries of the components that [`build_components`] built; `None` if there are none.
pub fn find_components() -> Result<Option<ComponentAssets>> {
    Ok(COMPONENTS.find_built()?.map(|dir| ComponentAssets { dir }))
}

/// Returns the path of promtool: that in `PATH`, otherwise that which [`build_promtool`] built; `None` if there is
/// none.
pub fn find_promtool() -> Result<Option<PathBuf>> {
    find_tool(&PROMTOOL)
}

/// Returns the path of helm: that in `PATH`, otherwise that which [`build_helm`] built; `None` if there is none.
pub fn find_helm() -> Result<Option<PathBuf>> {
    find_tool(&HELM)
}

/// Returns the path of operator-verify: that in `PATH`, otherwise that which [`build_operator_verify`] built; `None` if
/// there is none.
pub fn find_operator_verify() -> Result<Option<PathBuf>> {
    find_tool(&OPERATOR_VERIFY)
}

fn find_tool(module: &Module) -> Result<Option<PathBuf>> {
    let name = module.programs[0];
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = env::split_paths(&path).map(|dir| dir.join(name)).find(|program| program.is_file());
    Ok(installed.or(module.find_built()?.map(|dir| dir.join(name))))
}

/// Returns the binaries for a test suite, or the reason why it runs without them.
///
/// The variables `KUBEWRIGHT_REQUIRE_CONTROL_PLANE` and `KUBEWRIGHT_SKIP_CONTROL_PLANE` count if they are 1. With the
/// first, a missing control plane is an error; with the second, none is used.
pub(crate) fn find_optional(suite: &str) -> Result<Result<Assets, Absence>> {
    let is_set = |name| env::var_os(name).is_some_and(|value| value == "1");
    select(suite, is_set(REQUIRE_VARIABLE), is_set(SKIP_VARIABLE), Absence::NotFound, find)
}

/// Returns the binaries of a control plane with its components as [`find_optional`] does.
pub(crate) fn find_optional_components(suite: &str) -> Result<Result<(Assets, ComponentAssets), Absence>> {
    let assets = match find_optional(suite)? {
        Ok(assets) => assets,
        Err(absence) => return Ok(Err(absence)),
    };
    let is_required = env::var_os(REQUIRE_VARIABLE).is_some_and(|value| value == "1");
    let components = select(suite, is_required, false, Absence::NoComponents, find_components)?;
    Ok(components.map(|components| (assets, components)))
}

fn select<T>(
    suite: &str,
    is_required: bool,
    is_skipped: bool,
    absence: Absence,
    find: impl FnOnce() -> Result<Option<T>>,
) -> Result<Result<T, Absence>> {
    match (is_required, is_skipped) {
        (true, true) => bail!("{REQUIRE_VARIABLE} and {SKIP_VARIABLE} are both 1; set at most one of them"),
        (false, true) => Ok(Err(Absence::Skipped)),
        (is_required, false) => {
            let found = find()?;
            let is_missing = is_required && found.is_none();
            ensure!(!is_missing, "{suite}: {REQUIRE_VARIABLE} is 1, but there is {absence}");
            Ok(found.ok_or(absence))
        }
    }
}

/// The reason why a test suite uses no control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absence {
    NotFound,
    /// The components are not built.
    NoComponents,
    /// The environment declares that none is used.
    Skipped,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => write!(f, "no control plane; {HOW_TO_GET}"),
            Self::NoComponents => write!(f, "no {}; {HOW_TO_GET_COMPONENTS}", COMPONENTS.programs.join(", ")),
            Self::Skipped => write!(f, "skipped by {SKIP_VARIABLE}=1"),
        }
    }
}

/// Builds the binaries with `go build`, unless [`find`] returns some.
pub fn build() -> Result<Assets> {
    CONTROL_PLANE.build(find)
}

/// Builds the binaries of the components with `go build`, unless [`find_components`] returns some.
pub fn build_components() -> Result<ComponentAssets> {
    COMPONENTS.build(find_components)
}

/// Builds promtool with `go build`, unless [`find_promtool`] returns one.
pub fn build_promtool() -> Result<PathBuf> {
    PROMTOOL.build(find_promtool)
}

/// Builds helm with `go build`, unless [`find_helm`] returns one.
pub fn build_helm() -> Result<PathBuf> {
    HELM.build(find_helm)
}

/// Builds operator-verify with `go build`, unless [`find_operator_verify`] returns one.
pub fn build_operator_verify() -> Result<PathBuf> {
    OPERATOR_VERIFY.build(find_operator_verify)
}

/// A directory with kube-controller-manager, kube-scheduler and kwok, which are built only for suites that need them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentAssets {
    dir: PathBuf,
}

impl ComponentAssets {
    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the path of the controllers.
    pub fn kube_controller_manager(&self) -> PathBuf {
        self.dir.join("kube-controller-manager")
    }

    /// Returns the path of the scheduler.
    pub fn kube_scheduler(&self) -> PathBuf {
        self.dir.join("kube-scheduler")
    }

    /// Returns the path of the simulator of nodes.
    pub fn kwok(&self) -> PathBuf {
        self.dir.join("kwok")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Result<Option<&'static str>> {
        Ok(Some("bin"))
    }

    #[test]
    fn a_suite_uses_the_control_plane_that_is_found() {
        for is_required in [false, true] {
            let assets = select("suite", is_required, false, Absence::NotFound, found).unwrap();
            assert_eq!(assets, Ok("bin"));
        }
    }

    #[test]
    fn a_missing_control_plane_is_an_error_only_if_it_is_required() {
        for absence in [Absence::NotFound, Absence::NoComponents] {
            let missing = || Ok(None::<Assets>);
            assert_eq!(select("suite", false, false, absence, missing).unwrap(), Err(absence));
            let error = select("suite", true, false, absence, missing).unwrap_err().to_string();
            assert_eq!(error, format!("suite: KUBEWRIGHT_REQUIRE_CONTROL_PLANE is 1, but there is {absence}"));
        }
    }

    #[test]
    fn a_skipped_control_plane_is_not_searched() {
        let search = || -> Result<Option<Assets>> { bail!("searched") };
        let absence = select("suite", false, true, Absence::NotFound, search).unwrap().unwrap_err();
        assert_eq!(absence, Absence::Skipped);
        assert_eq!(absence.to_string(), "skipped by KUBEWRIGHT_SKIP_CONTROL_PLANE=1");
    }

    #[test]
    fn to_require_and_to_skip_the_control_plane_is_an_error_that_names_both_variables() {
        let error = select("suite", true, true, Absence::NotFound, found).unwrap_err().to_string();
        assert!(error.contains(REQUIRE_VARIABLE) && error.contains(SKIP_VARIABLE), "{error}");
    }
}
