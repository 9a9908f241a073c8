//! The resourceVersion of objects and lists, compared as Kubernetes allows: as numbers of any size, within one kind.

use std::cmp::Ordering;
use std::fmt;

use kube::Resource;

/// When the server last changed something of a kind.
///
/// Versions of one kind on one server are ordered (KEP-5504, Kubernetes 1.35): decimal numbers, of any size. Versions that are
/// not, as an aggregated API server may have them, are equal or not ordered at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Box<str>);

impl ResourceVersion {
    /// The version a server told.
    pub fn new(version: &str) -> Self {
        ResourceVersion(version.into())
    }

    /// As the server told it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// That of an object; `None` if it has none, as before it is created.
    pub fn of<K: Resource>(object: &K) -> Option<Self> {
        object.meta().resource_version.as_deref().filter(|version| !version.is_empty()).map(Self::new)
    }

    /// Whether it is ordered among those of its kind: a decimal number without leading zeros.
    pub fn is_number(&self) -> bool {
        is_number(&self.0)
    }

    /// As a gauge can show it: the last fifteen digits, which a float holds exactly. `None` where they are no digits.
    pub(crate) fn last_digits(&self) -> Option<f64> {
        let digits = self.0.get(self.0.len().saturating_sub(15)..)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    }

    /// Compares it with what a server told, of which nothing is copied.
    pub(crate) fn compare(&self, other: &str) -> Option<Ordering> {
        compare(&self.0, other)
    }
}

/// Two versions of one kind, as the server told them; `None` if they are not ordered.
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
    fn an_object_that_was_not_created_has_no_version() {
        let mut object = ConfigMap::default();
        for none in [None, Some(String::new())] {
            object.metadata.resource_version = none;
            assert_eq!(ResourceVersion::of(&object), None);
        }
        object.metadata.resource_version = Some("7".to_owned());
        assert_eq!(ResourceVersion::of(&object), Some(ResourceVersion::new("7")));
    }

    #[test]
    fn versions_are_compared_as_numbers_of_any_size() {
        assert_eq!(compare("9", "10"), Some(Ordering::Less));
        assert_eq!(compare("123456789012345678901234567890", "99"), Some(Ordering::Greater));
        assert_eq!(compare("7", "7"), Some(Ordering::Equal));
    }

    #[test]
    fn a_gauge_shows_the_last_fifteen_digits_exactly() {
        let shown = |version| ResourceVersion::new(version).last_digits();
        assert_eq!(shown("7"), Some(7.0));
        assert_eq!(shown("9123456789012345"), Some(123_456_789_012_345.0));
        assert_eq!((shown("v7"), shown("1e3"), shown("")), (None, None, None));
    }

    #[test]
    fn versions_that_are_no_numbers_are_equal_or_not_ordered() {
        assert_eq!(compare("a", "a"), Some(Ordering::Equal));
        for (a, b) in [("a", "1"), ("01", "1"), ("0", "1"), ("", "1"), ("a", "b")] {
            assert_eq!(compare(a, b), None, "{a} {b}");
        }
    }
}
