//! Names of groups, kinds and resources.

use crate::validation::{is_dns_1035_label, is_dns_1123_subdomain};

/// The built-in groups of Kubernetes without a dot; the core group has an empty name.
const BUILT_IN_GROUPS: [&str; 6] = ["", "apps", "autoscaling", "batch", "extensions", "policy"];

/// Whether the API server accepts the name as a kind or list kind: in lower case it is a DNS-1035 label.
pub fn is_kind(name: &str) -> bool {
    is_dns_1035_label(&name.to_lowercase())
}

/// Whether the name is a kind that is also the name of a type: letters and digits in CamelCase.
pub fn is_camel_case_kind(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && is_kind(name)
}

/// Whether the name is a group: one of a custom resource, which is a DNS-1123 subdomain with a dot, or a built-in one.
pub fn is_group(name: &str) -> bool {
    BUILT_IN_GROUPS.contains(&name) || (name.contains('.') && is_dns_1123_subdomain(name))
}

/// Returns the resource name of a kind by the rules of Go's client-gen: in lower case and plural.
pub fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    let Some(before_last) = singular.chars().rev().nth(1) else { return singular };
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| singular.ends_with(end)) {
        format!("{singular}es")
    } else if let Some(stem) = singular.strip_suffix('y').filter(|_| !"aeiou".contains(before_last)) {
        format!("{stem}ies")
    } else if let Some(stem) = singular.strip_suffix("fe").or(singular.strip_suffix('f')) {
        format!("{stem}ves")
    } else {
        format!("{singular}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_match_client_gen() {
        for (kind, expected) in [
            ("Logger", "loggers"),
            ("NetworkPolicy", "networkpolicies"),
            ("Ingress", "ingresses"),
            ("Gateway", "gateways"),
            ("Patch", "patches"),
            ("Box", "boxes"),
            ("Leaf", "leaves"),
            ("Life", "lives"),
            ("Autograph", "autographs"),
            ("I", "i"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn kinds_are_labels_in_lower_case() {
        assert!(["HTTPRoute2", "widget", "Foo-Bar"].into_iter().all(is_kind));
        assert!(!["", "Foo_Bar", "Foo-", "Gr\u{f6}\u{df}e", "2D", &"A".repeat(64)].into_iter().any(is_kind));
    }

    #[test]
    fn kinds_in_camel_case_are_letters_and_digits() {
        assert!(is_camel_case_kind("HTTPRoute2"));
        assert!(!["", "widget", "Foo-Bar", "Foo_Bar", "2D", &"A".repeat(64)].into_iter().any(is_camel_case_kind));
    }

    #[test]
    fn groups_are_subdomains_with_a_dot() {
        assert!(is_group("example.com") && is_group("a-b.c1.example"));
        assert!(is_group("") && is_group("apps"));
        for invalid in ["example", "Example.com", "-a.com", "a..b", "a.com."] {
            assert!(!is_group(invalid), "{invalid}");
        }
    }
}
