//! Since when a kind is served and how long: what Go's prerelease-lifecycle-gen makes of its tags.

use std::fmt;

/// A release of the product that serves a kind: `major.minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Release {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What to use instead of a deprecated kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// Group and version as `apiVersion` writes them.
    pub api_version: &'static str,
}

impl Replacement {
    /// This type.
    pub const fn of<T: k8s_openapi::Resource>() -> Self {
        Replacement { group: T::GROUP, version: T::VERSION, kind: T::KIND, api_version: T::API_VERSION }
    }
}

impl fmt::Display for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

/// Since when a kind is served and how long, as `#[k8s(lifecycle(..))]` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifecycle {
    /// The release that serves it first.
    pub introduced: Release,
    /// The release since which it is deprecated.
    pub deprecated: Option<Release>,
    /// The release that does not serve it any more.
    pub removed: Option<Release>,
    /// What to use instead.
    pub replacement: Option<Replacement>,
}

/// How many minor releases an alpha or beta version is good for, and then is still served.
const GRACE: u32 = 3;

impl Lifecycle {
    /// When a kind of this version is, or will be, deprecated: as said, or else, as Go has it, a version that is not stable
    /// three minor releases after its introduction.
    pub fn deprecation(&self, version: &str) -> Option<Release> {
        self.deprecated.or_else(|| later(self.introduced, version))
    }

    /// When a kind of this version is removed: as said, or else, as Go has it, a version that is not stable three minor
    /// releases after its deprecation.
    pub fn removal(&self, version: &str) -> Option<Release> {
        self.removed.or_else(|| later(self.deprecation(version)?, version))
    }

    /// What the server says to those who use the kind, if it is deprecated: the words of Kubernetes itself.
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

fn later(release: Release, version: &str) -> Option<Release> {
    let is_stable = version.strip_prefix('v').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    (!is_stable).then_some(Release { minor: release.minor.saturating_add(GRACE), ..release })
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
    fn releases_are_compared_as_numbers() {
        assert!(release(1, 10) > release(1, 9) && release(2, 0) > release(1, 10));
        assert_eq!(release(1, 10).to_string(), "1.10");
    }

    #[test]
    fn versions_that_are_not_stable_last_six_releases() {
        assert_eq!((INTRODUCED.deprecation("v1"), INTRODUCED.removal("v1")), (None, None));
        assert_eq!(INTRODUCED.deprecation("v1beta1"), Some(release(1, 5)));
        assert_eq!(INTRODUCED.removal("v1beta1"), Some(release(1, 8)));
        let said = Lifecycle { deprecated: Some(release(1, 4)), ..INTRODUCED };
        assert_eq!(
            (said.deprecation("v1alpha1"), said.removal("v1alpha1")),
            (Some(release(1, 4)), Some(release(1, 7)))
        );
        assert_eq!((said.deprecation("v1"), said.removal("v1")), (Some(release(1, 4)), None));
    }

    #[test]
    fn warnings_read_as_kubernetes_writes_them() {
        assert_eq!(INTRODUCED.warning("example.com/v1", "Widget"), None);
        let deprecated = Lifecycle { deprecated: Some(release(1, 4)), ..INTRODUCED };
        let says = |lifecycle: Lifecycle| lifecycle.warning("example.com/v1", "Widget").unwrap();
        assert_eq!(says(deprecated), "example.com/v1 Widget is deprecated in v1.4+");
        let replacement = Some(Replacement::of::<HorizontalPodAutoscaler>());
        assert_eq!(
            says(Lifecycle { removed: Some(release(2, 0)), replacement, ..deprecated }),
            "example.com/v1 Widget is deprecated in v1.4+, unavailable in v2.0+; use autoscaling/v2 HorizontalPodAutoscaler"
        );
    }
}
