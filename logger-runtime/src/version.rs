//! The resourceVersion of objects and lists, compared as Kubernetes allows: as numbers of any size, within one kind.

use std::cmp::Ordering;
use std::fmt;

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

    /// A decimal number without leading zeros.
    fn is_number(&self) -> bool {
        !self.0.is_empty() && !self.0.starts_with('0') && self.0.bytes().all(|byte| byte.is_ascii_digit())
    }
}

impl PartialOrd for ResourceVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.0 == other.0 {
            return Some(Ordering::Equal);
        }
        let both = self.is_number() && other.is_number();
        both.then(|| (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0)))
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: &str, b: &str) -> Option<Ordering> {
        ResourceVersion::new(a).partial_cmp(&ResourceVersion::new(b))
    }

    #[test]
    fn versions_are_compared_as_numbers_of_any_size() {
        assert_eq!(compare("9", "10"), Some(Ordering::Less));
        assert_eq!(compare("123456789012345678901234567890", "99"), Some(Ordering::Greater));
        assert_eq!(compare("7", "7"), Some(Ordering::Equal));
    }

    #[test]
    fn versions_that_are_no_numbers_are_equal_or_not_ordered() {
        assert_eq!(compare("a", "a"), Some(Ordering::Equal));
        for (a, b) in [("a", "1"), ("01", "1"), ("0", "1"), ("", "1"), ("a", "b")] {
            assert_eq!(compare(a, b), None, "{a} {b}");
        }
    }
}
