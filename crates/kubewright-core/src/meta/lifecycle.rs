//! The lifecycle of a kind: the releases that introduce, deprecate and remove it, as Go's prerelease-lifecycle-gen has
//! them.

use std::fmt;

/// A release of the product that serves a kind: `major.minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Release {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The replacement of a deprecated kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// Group and version in the syntax of `apiVersion`.
    pub api_version: &'static str,
}

impl Replacement {
    /// Creates the replacement by this type.
    pub const fn new<T: k8s_openapi::Resource>() -> Self {
        Replacement { group: T::GROUP, version: T::VERSION, kind: T::KIND, api_version: T::API_VERSION }
    }
}

impl fmt::Display for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

/// The lifecycle of a kind, as `#[k8s(lifecycle(..))]` declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    /// The first release that serves it.
    pub introduced: Release,
    /// The first release that deprecates it.
    pub deprecated: Option<Release>,
    /// The first release that does not serve it any more.
    pub removed: Option<Release>,
    /// The kind to use instead.
    pub replacement: Option<Replacement>,
}

/// The minor releases from introduction to deprecation and from deprecation to removal of an alpha or beta version.
const PRERELEASE_LIFETIME: u32 = 3;

impl Lifecycle {
    /// Returns the release that deprecates a kind of this version: as declared, or else, as in Go, three minor releases
    /// after the introduction of an alpha or beta version.
    pub fn deprecation(&self, version: &str) -> Option<Release> {
        self.deprecated.or_else(|| after_prerelease(self.introduced, version))
    }

    /// Returns the release that removes a kind of this version: as declared, or else, as in Go, three minor releases
    /// after the deprecation of an alpha or beta version.
    pub fn removal(&self, version: &str) -> Option<Release> {
        self.removed.or_else(|| after_prerelease(self.deprecation(version)?, version))
    }

    /// Returns the warning of the server about a deprecated kind, in the wording of Kubernetes.
    pub fn warning(&self, api_version: &str, kind: &str) -> Option<String> {
        let mut warning = format!("{api_version} {kind} is deprecated in v{}+", self.deprecated?);
        if let Some(removed) = self.removed {
            warning += &format!(", unavailable in v{removed}+");
        }
        if let Some(replacement) = self.replacement {
            warning += &format!("; use {replacement}");
        }
        Some(warning)
    }
}

fn after_prerelease(release: Release, version: &str) -> Option<Release> {
    (!kubewright_names::version::is_stable(version))
        .then_some(Release { minor: release.minor.saturating_add(PRERELEASE_LIFETIME), ..release })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;

    use super::*;

    const fn release(major: u32, minor: u32) -> Release {
        Release { major, minor }
    }

    const INTRODUCED: Lifecycle =
        Lifecycle { introduced: release(1, 2), deprecated: None, removed: None, replacement: None };

    #[test]
    fn releases_are_ordered_numerically() {
        assert!(release(1, 10) > release(1, 9) && release(2, 0) > release(1, 10));
        assert_eq!(release(1, 10).to_string(), "1.10");
    }

    #[test]
    fn prerelease_versions_are_removed_after_six_releases() {
        assert_eq!((INTRODUCED.deprecation("v1"), INTRODUCED.removal("v1")), (None, None));
        assert_eq!(INTRODUCED.deprecation("v1beta1"), Some(release(1, 5)));
        assert_eq!(INTRODUCED.removal("v1beta1"), Some(release(1, 8)));
        let declared = Lifecycle { deprecated: Some(release(1, 4)), ..INTRODUCED };
        assert_eq!(
            (declared.deprecation("v1alpha1"), declared.removal("v1alpha1")),
            (Some(release(1, 4)), Some(release(1, 7)))
        );
        assert_eq!((declared.deprecation("v1"), declared.removal("v1")), (Some(release(1, 4)), None));
    }

    #[test]
    fn warnings_match_kubernetes() {
        assert_eq!(INTRODUCED.warning("example.com/v1", "Widget"), None);
        let deprecated = Lifecycle { deprecated: Some(release(1, 4)), ..INTRODUCED };
        let warning = |lifecycle: Lifecycle| lifecycle.warning("example.com/v1", "Widget").unwrap();
        assert_eq!(warning(deprecated), "example.com/v1 Widget is deprecated in v1.4+");
        let replacement = Some(Replacement::new::<HorizontalPodAutoscaler>());
        assert_eq!(
            warning(Lifecycle { removed: Some(release(2, 0)), replacement, ..deprecated }),
            "example.com/v1 Widget is deprecated in v1.4+, unavailable in v2.0+; use autoscaling/v2 \
             HorizontalPodAutoscaler"
        );
    }
}
