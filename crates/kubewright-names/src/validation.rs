//! Validation of names with the messages of the API server: DNS labels and subdomains, label keys and values.
//!
//! From `k8s.io/apimachinery/pkg/api/validate/content` and `.../util/validation` of Kubernetes 1.36. Each function
//! returns the errors of a name; a valid name has none.

/// The maximum length of a DNS label, and of the name and value of a label.
const MAX_LABEL: usize = 63;

/// The maximum length of a DNS subdomain.
const MAX_SUBDOMAIN: usize = 253;

/// Validates a label of RFC 1035.
pub fn dns_1035_label(name: &str) -> Vec<String> {
    const MESSAGE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
                           alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', \
                           regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    let syntax = (!name.starts_with(|c: char| c.is_ascii_lowercase()) || !has_label_syntax(name)).then_some(MESSAGE);
    too_long(name, MAX_LABEL, "characters").into_iter().chain(syntax.map(str::to_owned)).collect()
}

/// Validates a subdomain of RFC 1123.
pub fn dns_1123_subdomain(name: &str) -> Vec<String> {
    const MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
                           must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                           validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    let syntax = (!has_subdomain_syntax(name)).then_some(MESSAGE);
    too_long(name, MAX_SUBDOMAIN, "characters").into_iter().chain(syntax.map(str::to_owned)).collect()
}

/// Validates a label of RFC 1123.
pub fn dns_1123_label(name: &str) -> Vec<String> {
    const MESSAGE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                           start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
                           validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    let syntax = match (has_label_syntax(name), has_subdomain_syntax(name)) {
        (true, _) => None,
        (false, true) => Some("must not contain dots"),
        (false, false) => Some(MESSAGE),
    };
    too_long(name, MAX_LABEL, "characters").into_iter().chain(syntax.map(str::to_owned)).collect()
}

/// Validates the key of a label or an annotation, or a finalizer.
pub fn label_key(key: &str) -> Vec<String> {
    const MESSAGE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                           alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation \
                           is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let mut errors = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        ["", name] => {
            errors.push("prefix part must be non-empty".to_owned());
            name
        }
        [prefix, name] => {
            let prefix_errors = dns_1123_subdomain(prefix).into_iter();
            errors.extend(
                prefix_errors.map(|error| format!("prefix part {}", error.replace("253 characters", "253 bytes"))),
            );
            name
        }
        _ => {
            let with = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {MESSAGE} {with}")];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    }
    errors.extend(too_long(name, MAX_LABEL, "bytes").map(|error| format!("name part {error}")));
    if !has_label_value_syntax(name) {
        errors.push(format!("name part {MESSAGE}"));
    }
    errors
}

/// Validates the value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    const MESSAGE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                           and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
                           '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let syntax = (!value.is_empty() && !has_label_value_syntax(value)).then_some(MESSAGE);
    too_long(value, MAX_LABEL, "bytes").into_iter().chain(syntax.map(str::to_owned)).collect()
}

/// Validates a name that is a segment of a URL path.
pub fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"].into_iter().filter(|part| name.contains(part)).map(|part| format!("may not contain '{part}'")).collect()
}

/// Whether the name is a label of RFC 1035.
pub fn is_dns_1035_label(name: &str) -> bool {
    dns_1035_label(name).is_empty()
}

/// Whether the name is a label of RFC 1123.
pub fn is_dns_1123_label(name: &str) -> bool {
    dns_1123_label(name).is_empty()
}

/// Whether the name is a subdomain of RFC 1123.
pub fn is_dns_1123_subdomain(name: &str) -> bool {
    dns_1123_subdomain(name).is_empty()
}

/// Returns the message for a text that is too long. The server counts bytes, although some messages have "characters".
fn too_long(text: &str, max: usize, unit: &str) -> Option<String> {
    (text.len() > max).then(|| format!("must be no more than {max} {unit}"))
}

fn has_label_syntax(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(is_end) && name.ends_with(is_end) && name.chars().all(|c| is_end(c) || c == '-')
}

fn has_subdomain_syntax(name: &str) -> bool {
    name.split('.').all(has_label_syntax)
}

fn has_label_value_syntax(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(is_end) && text.ends_with(is_end) && text.chars().all(|c| is_end(c) || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_subdomains() {
        for name in ["a", "a-1", "v1alpha1x", &"a".repeat(63)] {
            assert!(is_dns_1035_label(name) && is_dns_1123_label(name), "{name}");
        }
        for name in ["", "-a", "a-", "A", "a_b", "ä", &"a".repeat(64)] {
            assert!(!is_dns_1035_label(name) && !is_dns_1123_label(name), "{name}");
        }
        assert!(is_dns_1123_label("1a") && !is_dns_1035_label("1a"));
        assert!(is_dns_1123_subdomain("a.1-b.c") && !is_dns_1123_subdomain("a..b"));
        assert_eq!(dns_1123_label("a.b"), ["must not contain dots"]);
    }

    #[test]
    fn keys_and_values_of_labels() {
        for key in ["a", "A_b.c-1", "example.com/a"] {
            assert_eq!(label_key(key), Vec::<String>::new(), "{key}");
        }
        assert_eq!(label_key("/a"), ["prefix part must be non-empty"]);
        assert_eq!(label_key("a/")[0], "name part must be non-empty");
        assert_eq!(label_key("a/b/c").len(), 1);
        assert_eq!(label_key(&format!("{}/a", "a".repeat(254))), ["prefix part must be no more than 253 bytes"]);
        assert_eq!(label_value(""), Vec::<String>::new());
        assert_eq!(label_value(&"a".repeat(64)), ["must be no more than 63 bytes"]);
    }

    #[test]
    fn segments_of_urls() {
        assert_eq!(path_segment("a%/b"), ["may not contain '/'", "may not contain '%'"]);
        assert_eq!(path_segment(".."), ["may not be '..'"]);
        assert_eq!(path_segment("A b"), Vec::<String>::new());
    }
}
