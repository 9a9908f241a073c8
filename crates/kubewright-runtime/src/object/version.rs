//! The resource version of objects and lists, comparable within one kind as a decimal number of any size.

use std::{cmp::Ordering, fmt};

use kube::Resource;

/// The `resourceVersion` of an object or a list.
///
/// Versions of one kind on one server are ordered (KEP-5504, Kubernetes 1.35): they are decimal numbers of any size.
/// Versions that are not decimal numbers, as aggregated API servers can have, are either equal or unordered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Box<str>);

impl ResourceVersion {
    /// Creates a resource version from its string as the server sent it.
    pub fn new(version: &str) -> Self {
        ResourceVersion(version.into())
    }

    /// Returns the string as the server sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the resource version of an object; `None` if it has none, for example before its creation.
    pub fn from_object<K: Resource>(object: &K) -> Option<Self> {
        object.meta().resource_version.as_deref().filter(|version| !version.is_empty()).map(Self::new)
    }

    /// Returns whether the version can be ordered: it is a decimal number without leading zeros.
    pub fn is_number(&self) -> bool {
        is_number(&self.0)
    }

    /// Returns the last fifteen digits, which an `f64` represents exactly, for use in a gauge; `None` if they are not
    /// digits.
    #[cfg(any(test, feature = "informers"))]
    pub(crate) fn last_digits(&self) -> Option<f64> {
        let digits = self.0.get(self.0.len().saturating_sub(15)..)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    }

    /// Compares this version with a version string, without copying it.
    pub(crate) fn compare(&self, other: &str) -> Option<Ordering> {
        compare(&self.0, other)
    }
}

/// Compares two version strings of one kind; `None` if they are unordered.
pub(crate) fn compare(a: &str, b: &str) -> Option<Ordering> {
    if a == b {
        return Some(Ordering::Equal);
    }
    (is_number(a) && is_number(b)).then(|| (a.len(), a).cmp(&(b.len(), b)))
}

fn is_number(version: &str) -> bool {
    !version.is_empty() && !version.starts_with('0') && version.bytes().all(|byte| byte.is_ascii_digit())
}

impl PartialOrd for ResourceVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.compare(&other.0)
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn compare(a: &str, b: &str) -> Option<Ordering> {
        ResourceVersion::new(a).partial_cmp(&ResourceVersion::new(b))
    }

    #[test]
    fn objects_that_are_not_created_have_no_version() {
        let mut object = ConfigMap::default();
        for none in [None, Some(String::new())] {
            object.metadata.resource_version = none;
            assert_eq!(ResourceVersion::from_object(&object), None);
        }
        object.metadata.resource_version = Some("7".to_owned());
        assert_eq!(ResourceVersion::from_object(&object), Some(ResourceVersion::new("7")));
    }

    #[test]
    fn versions_are_compared_as_numbers_of_any_size() {
        assert_eq!(compare("9", "10"), Some(Ordering::Less));
        assert_eq!(compare("123456789012345678901234567890", "99"), Some(Ordering::Greater));
        assert_eq!(compare("7", "7"), Some(Ordering::Equal));
    }

    #[test]
    fn gauges_show_the_last_fifteen_digits_exactly() {
        let shown = |version| ResourceVersion::new(version).last_digits();
        assert_eq!(shown("7"), Some(7.0));
        assert_eq!(shown("9123456789012345"), Some(123_456_789_012_345.0));
        assert_eq!((shown("v7"), shown("1e3"), shown("")), (None, None, None));
    }

    #[test]
    fn versions_that_are_not_numbers_are_equal_or_unordered() {
        assert_eq!(compare("a", "a"), Some(Ordering::Equal));
        for (a, b) in [("a", "1"), ("01", "1"), ("0", "1"), ("", "1"), ("a", "b")] {
            assert_eq!(compare(a, b), None, "{a} {b}");
        }
    }
}
