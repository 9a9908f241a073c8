//! Identifiers of API groups, kinds and resources, as `k8s.io/apimachinery/pkg/runtime/schema` in Go.

use std::{borrow::Cow, fmt};

pub use kubewright_names::version::compare as compare_versions;

/// A group and one of its versions, known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersion {
    /// The API group, such as `example.com`.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// Both in the syntax of `apiVersion`, such as `example.com/v1`.
    pub api_version: &'static str,
}

impl GroupVersion {
    /// Returns the resource of this group with the given plural name.
    pub const fn resource(&self, plural: &'static str) -> GroupVersionResource {
        GroupVersionResource {
            group: Cow::Borrowed(self.group),
            version: Cow::Borrowed(self.version),
            resource: Cow::Borrowed(plural),
        }
    }

    /// Returns the kind of this group with the given name.
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

/// A resource of a group, in any version.
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
    /// Parses `apiVersion` and `kind`. An `api_version` without a slash is of the core group.
    pub fn from_type_meta(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        GroupVersionKind {
            group: group.to_owned().into(),
            version: version.to_owned().into(),
            kind: kind.to_owned().into(),
        }
    }

    /// Returns group and version in the syntax of `apiVersion`, such as `example.com/v1`; the version alone for the
    /// core group.
    pub fn api_version(&self) -> String {
        match self.group.as_ref() {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }
}

/// Returns the group, version and kind of a type.
pub const fn group_version_kind<T: k8s_openapi::Resource>() -> GroupVersionKind {
    GroupVersionKind {
        group: Cow::Borrowed(T::GROUP),
        version: Cow::Borrowed(T::VERSION),
        kind: Cow::Borrowed(T::KIND),
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
    /// Returns the resource without its version.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_version_without_slash_is_core_group() {
        let pod = GroupVersionKind::from_type_meta("v1", "Pod");
        assert_eq!((pod.group.as_ref(), pod.version.as_ref()), ("", "v1"));
        assert_eq!(pod.to_string(), "v1, Kind=Pod");
    }

    #[test]
    fn display_matches_go() {
        const GV: GroupVersion = GroupVersion { group: "example.com", version: "v1", api_version: "example.com/v1" };
        assert_eq!(GV.kind("Widget").to_string(), "example.com/v1, Kind=Widget");
        assert_eq!(GV.resource("widgets").to_string(), "example.com/v1, Resource=widgets");
        assert_eq!(GV.resource("widgets").group_resource().to_string(), "widgets.example.com");
    }
}
