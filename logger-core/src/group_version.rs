//! The names of API groups, kinds and resources: what `k8s.io/apimachinery/pkg/runtime/schema` is in Go.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A group and one of its versions, known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersion {
    /// The API group, such as `example.com`.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// Both as `apiVersion` writes them, such as `example.com/v1`.
    pub api_version: &'static str,
}

impl GroupVersion {
    /// The resource of this group with the given plural name.
    pub const fn resource(&self, plural: &'static str) -> GroupVersionResource {
        GroupVersionResource {
            group: Cow::Borrowed(self.group),
            version: Cow::Borrowed(self.version),
            resource: Cow::Borrowed(plural),
        }
    }

    /// The kind of this group with the given name.
    pub const fn kind(&self, kind: &'static str) -> GroupVersionKind {
        GroupVersionKind {
            group: Cow::Borrowed(self.group),
            version: Cow::Borrowed(self.version),
            kind: Cow::Borrowed(kind),
        }
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.api_version)
    }
}

/// A resource of a group, whatever its version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupResource {
    /// The API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// The plural name, such as `loggers`.
    pub resource: Cow<'static, str>,
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_ref() {
            "" => f.write_str(&self.resource),
            group => write!(f, "{}.{group}", self.resource),
        }
    }
}

/// A kind of a group and version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// The API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// The version, such as `v1`.
    pub version: Cow<'static, str>,
    /// The kind, such as `Widget`.
    pub kind: Cow<'static, str>,
}

impl GroupVersionKind {
    /// Reads the two fields every Kubernetes object starts with. `api_version` without a slash is the core group.
    pub fn from_type_meta(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        GroupVersionKind {
            group: group.to_owned().into(),
            version: version.to_owned().into(),
            kind: kind.to_owned().into(),
        }
    }

    /// Group and version as `apiVersion` writes them, such as `example.com/v1`; the version alone of the core group.
    pub fn api_version(&self) -> String {
        match self.group.as_ref() {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_ref() {
            "" => write!(f, "{}, Kind={}", self.version, self.kind),
            group => write!(f, "{group}/{}, Kind={}", self.version, self.kind),
        }
    }
}

/// A resource of a group and version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionResource {
    /// The API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// The version, such as `v1`.
    pub version: Cow<'static, str>,
    /// The plural name, such as `widgets`.
    pub resource: Cow<'static, str>,
}

impl GroupVersionResource {
    /// The same resource without its version.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.group.clone(), resource: self.resource.clone() }
    }
}

impl fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_ref() {
            "" => write!(f, "{}, Resource={}", self.version, self.resource),
            group => write!(f, "{group}/{}, Resource={}", self.version, self.resource),
        }
    }
}

/// Compares two versions as Kubernetes does: the greater is to be preferred. Stable ones are greater than betas, and those
/// than alphas; among these the number counts. A name of another form is less than all, and the later in the alphabet less.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (None, None) => b.cmp(a),
        (a, b) => a.cmp(&b),
    }
}

/// Stage, major and minor number of `v1`, `v2beta1` or `v1alpha3`.
fn rank(version: &str) -> Option<(Stage, u32, u32)> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let rest = version.strip_prefix('v')?;
    let staged = [("alpha", Stage::Alpha), ("beta", Stage::Beta)]
        .into_iter()
        .find_map(|(name, stage)| Some((stage, rest.split_once(name)?)));
    match staged {
        Some((stage, (major, minor))) => Some((stage, digits(major)?, digits(minor)?)),
        None => Some((Stage::Stable, digits(rest)?, 0)),
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Alpha,
    Beta,
    Stable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_and_new_versions_are_preferred() {
        let sorted = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare_versions(a, b), j.cmp(&i), "{a} and {b}");
            }
        }
    }

    #[test]
    fn what_is_no_version_comes_last() {
        for other in ["", "v", "1", "v1gamma1", "v1beta", "vbeta1", "v+1", "v1beta-1", "v99999999999", "V1"] {
            assert_eq!(compare_versions(other, "v1alpha1"), Ordering::Less, "{other}");
        }
    }

    #[test]
    fn api_version_without_a_slash_is_the_core_group() {
        let pod = GroupVersionKind::from_type_meta("v1", "Pod");
        assert_eq!((pod.group.as_ref(), pod.version.as_ref()), ("", "v1"));
        assert_eq!(pod.to_string(), "v1, Kind=Pod");
    }

    #[test]
    fn names_read_as_go_writes_them() {
        const GV: GroupVersion = GroupVersion { group: "example.com", version: "v1", api_version: "example.com/v1" };
        assert_eq!(GV.kind("Widget").to_string(), "example.com/v1, Kind=Widget");
        assert_eq!(GV.resource("widgets").to_string(), "example.com/v1, Resource=widgets");
        assert_eq!(GV.resource("widgets").group_resource().to_string(), "widgets.example.com");
    }
}
