//! Names made from other names: the one pluraliser of the whole toolchain.

/// The resource name of a kind, by the rules of Go's client-gen: lower case, in the plural.
pub(crate) fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    let before_last = singular.chars().rev().nth(1);
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| singular.ends_with(end)) {
        format!("{singular}es")
    } else if singular.ends_with('y') && !before_last.is_some_and(|c| "aeiou".contains(c)) {
        format!("{}ies", &singular[..singular.len() - 1])
    } else {
        format!("{singular}s")
    }
}

/// `time_interval` as `timeInterval`, by serde's rule: a letter after `_` is upper case, but for the very first.
pub(crate) fn camel_case(field: &str) -> String {
    let mut name = String::new();
    let mut after_underscore = false;
    for c in field.chars() {
        match c {
            '_' => after_underscore = true,
            c if after_underscore && !name.is_empty() => name.push(c.to_ascii_uppercase()),
            c if name.is_empty() => name.push(c.to_ascii_lowercase()),
            c => name.push(c),
        }
        after_underscore &= c == '_';
    }
    name
}

/// `my_shape` of `MyShape`.
pub(crate) fn snake(pascal: &str) -> String {
    let mut name = String::new();
    for (i, c) in pascal.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

/// Whether this is a name in snake case.
pub(crate) fn is_snake_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a type's name can be that of a kind: letters and digits, in CamelCase.
pub(crate) fn is_kind(name: &str) -> bool {
    name.len() <= 63
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Whether this is a DNS-1035 label: what the API server takes for plural, singular, short names and categories.
pub(crate) fn is_dns_1035_label(name: &str) -> bool {
    name.len() <= 63
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The groups of Kubernetes' own that have no dot; the core group has no name.
const BUILT_IN_GROUPS: [&str; 6] = ["", "apps", "autoscaling", "batch", "extensions", "policy"];

/// Whether this is a group: a DNS-1123 subdomain with a dot, which the API server takes for the group of a custom
/// resource, or one of Kubernetes' own.
pub(crate) fn is_group(name: &str) -> bool {
    if BUILT_IN_GROUPS.contains(&name) {
        return true;
    }
    let label = |label: &str| {
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        edge(label.chars().next())
            && edge(label.chars().last())
            && label.len() <= 63
            && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    name.len() <= 253 && name.contains('.') && name.split('.').all(label)
}

/// Whether this is a version of the form `v1`, `v1beta1` or `v1alpha1`, which clients can sort by age.
pub(crate) fn is_version(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && !text.starts_with('0') && text.chars().all(|c| c.is_ascii_digit());
    let Some(rest) = name.strip_prefix('v') else {
        return false;
    };
    ["alpha", "beta"]
        .iter()
        .find_map(|stage| rest.split_once(stage))
        .map_or_else(|| digits(rest), |(major, minor)| digits(major) && digits(minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_follow_english_as_client_gen_does() {
        for (kind, expected) in [
            ("Logger", "loggers"),
            ("NetworkPolicy", "networkpolicies"),
            ("Ingress", "ingresses"),
            ("Gateway", "gateways"),
            ("Patch", "patches"),
            ("Box", "boxes"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn fields_become_camel_case_as_serde_does_it() {
        for (field, expected) in [
            ("time_interval", "timeInterval"),
            ("_reserved", "reserved"),
            ("a__b", "aB"),
            ("x_1", "x1"),
            ("ends_", "ends"),
        ] {
            assert_eq!(camel_case(field), expected);
        }
    }

    #[test]
    fn traits_become_words() {
        assert_eq!(snake("MyShape"), "my_shape");
    }

    #[test]
    fn kinds_are_letters_and_digits() {
        assert!(is_kind("HTTPRoute2"));
        assert!(!["widget", "Foo_Bar", "Gr\u{f6}\u{df}e", "2D"].into_iter().any(is_kind));
    }

    #[test]
    fn groups_are_subdomains_with_a_dot() {
        assert!(is_group("example.com") && is_group("a-b.c1.example"));
        assert!(is_group("") && is_group("apps"));
        for bad in ["example", "Example.com", "-a.com", "a..b", "a.com."] {
            assert!(!is_group(bad), "{bad}");
        }
    }

    #[test]
    fn versions_have_a_stage_and_numbers() {
        assert!(["v1", "v12", "v1beta1", "v2alpha10"].into_iter().all(is_version));
        assert!(!["1", "v", "v0", "v1beta", "v1gamma1", "V1"].into_iter().any(is_version));
    }
}
