//! Names as the API server checks them: DNS labels and subdomains, label keys and values.
//!
//! From `k8s.io/apimachinery/pkg/api/validate/content` and `.../util/validation` of Kubernetes 1.36.

/// What is wrong with a label of RFC 1035.
pub(crate) fn dns_1035_label(name: &str) -> Vec<String> {
    const TEXT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
                        alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', \
                        regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    too_long(name, 63, "characters").into_iter().chain((!starts || !is_label(name)).then(|| TEXT.to_owned())).collect()
}

/// What is wrong with a subdomain of RFC 1123.
#[must_use]
pub fn dns_1123_subdomain(name: &str) -> Vec<String> {
    const TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                        and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                        validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    too_long(name, 253, "characters").into_iter().chain((!is_subdomain(name)).then(|| TEXT.to_owned())).collect()
}

/// What is wrong with a label of RFC 1123.
#[must_use]
pub fn dns_1123_label(name: &str) -> Vec<String> {
    const TEXT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                        start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
                        validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    let form = match (is_label(name), is_subdomain(name)) {
        (true, _) => None,
        (false, true) => Some("must not contain dots".to_owned()),
        (false, false) => Some(TEXT.to_owned()),
    };
    too_long(name, 63, "characters").into_iter().chain(form).collect()
}

/// What is wrong with the key of a label or an annotation, or with a finalizer.
#[must_use]
pub fn label_key(key: &str) -> Vec<String> {
    const TEXT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                        alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation \
                        is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let mut errors = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                let wrong = dns_1123_subdomain(prefix).into_iter();
                errors
                    .extend(wrong.map(|error| format!("prefix part {}", error.replace("253 characters", "253 bytes"))));
            }
            name
        }
        _ => {
            let with = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {TEXT} {with}")];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    }
    errors.extend(too_long(name, 63, "bytes").map(|error| format!("name part {error}")));
    if !is_label_text(name) {
        errors.push(format!("name part {TEXT}"));
    }
    errors
}

/// What is wrong with the value of a label.
#[must_use]
pub fn label_value(value: &str) -> Vec<String> {
    const TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                        and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
                        '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let form = (!value.is_empty() && !is_label_text(value)).then(|| TEXT.to_owned());
    too_long(value, 63, "bytes").into_iter().chain(form).collect()
}

/// What is wrong with a name that becomes a segment of a URL.
pub(crate) fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"].into_iter().filter(|part| name.contains(part)).map(|part| format!("may not contain '{part}'")).collect()
}

/// Names are counted in characters, as the texts have it, labels in bytes; in truth all are counted in bytes.
fn too_long(text: &str, most: usize, unit: &str) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} {unit}"))
}

fn is_label(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(is_end) && name.ends_with(is_end) && name.chars().all(|c| is_end(c) || c == '-')
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

fn is_label_text(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(is_end) && text.ends_with(is_end) && text.chars().all(|c| is_end(c) || "-_.".contains(c))
}
