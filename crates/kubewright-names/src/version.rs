//! Names of versions: validation and order.

use std::cmp::Ordering;

use crate::validation::is_dns_1035_label;

/// Whether the API server accepts the name of a version: any DNS-1035 label.
pub fn is_version(name: &str) -> bool {
    is_dns_1035_label(name)
}

/// Compares two versions by preference, as Kubernetes does. Stable versions are greater than beta versions, and those
/// than alpha versions; versions of the same stability compare by number. Names of another syntax are less than all of
/// these, and compare in reverse alphabetical order.
///
/// From `k8s.io/apimachinery/pkg/version` of Kubernetes.
pub fn compare(a: &str, b: &str) -> Ordering {
    match (parse(a), parse(b)) {
        (None, None) => b.cmp(a),
        (a, b) => a.cmp(&b),
    }
}

/// Whether the name has the syntax of Kubernetes, such as `v1` or `v1beta1`, by which versions are ordered.
pub fn is_conventional(name: &str) -> bool {
    parse(name).is_some()
}

/// Whether the name is that of a stable version, such as `v1`.
pub fn is_stable(name: &str) -> bool {
    matches!(parse(name), Some((Stability::Stable, ..)))
}

/// Parses stability, major and minor number of `v1`, `v2beta1` or `v1alpha3`.
fn parse(version: &str) -> Option<(Stability, u32, u32)> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let rest = version.strip_prefix('v')?;
    let prerelease = [("alpha", Stability::Alpha), ("beta", Stability::Beta)]
        .into_iter()
        .find_map(|(name, stability)| Some((stability, rest.split_once(name)?)));
    match prerelease {
        Some((stability, (major, minor))) => Some((stability, digits(major)?, digits(minor)?)),
        None => Some((Stability::Stable, digits(rest)?, 0)),
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_and_newer_versions_are_preferred() {
        let sorted = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare(a, b), j.cmp(&i), "{a} and {b}");
            }
        }
    }

    #[test]
    fn other_names_sort_last() {
        for other in ["", "v", "1", "v1gamma1", "v1beta", "vbeta1", "v+1", "v1beta-1", "v99999999999", "V1"] {
            assert_eq!(compare(other, "v1alpha1"), Ordering::Less, "{other}");
        }
    }

    #[test]
    fn any_label_is_a_version() {
        assert!(["v1", "v12", "v1beta1", "v1alpha1x", "beta", "v1-2"].into_iter().all(is_version));
        assert!(!["1", "V1", "v1.2", "v1-", ""].into_iter().any(is_version));
        assert!(is_stable("v1") && !is_stable("v1beta1") && !is_stable("beta"));
    }
}
