//! The named formats of `format.<name>()` and `format.named('<name>')` (`k8s.io/apiserver/pkg/cel/library/format.go`).

use super::{base64, regex, time, url};

/// The names of all formats.
pub(crate) const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

/// A format of names: a pattern and a maximum length.
struct NameFormat {
    pattern: &'static str,
    max: usize,
    /// The unit of the maximum length in the error message, where the server has two.
    unit: &'static str,
    description: &'static str,
    examples: &'static [&'static str],
}

const LABEL: NameFormat = NameFormat {
    pattern: "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
    max: 63,
    unit: "characters",
    description: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                  and end with an alphanumeric character",
    examples: &["my-name", "123-abc"],
};
const SUBDOMAIN: NameFormat = NameFormat {
    pattern: r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
    max: 253,
    unit: "characters",
    description: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
                  must start and end with an alphanumeric character",
    examples: &["example.com"],
};
const LABEL_1035: NameFormat = NameFormat {
    pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
    max: 63,
    unit: "characters",
    description: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
                  character, and end with an alphanumeric character",
    examples: &["my-name", "abc-123"],
};
const NAME_PART: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE: NameFormat = NameFormat {
    pattern: "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
    max: 63,
    unit: "bytes",
    description: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                  must start and end with an alphanumeric character",
    examples: &["MyValue", "my_value", "12345"],
};

/// Validates a text against the named format, and returns the server's error messages.
pub(crate) fn validate(format: &str, text: &str) -> Vec<String> {
    let unless = |holds: bool, message: &str| if holds { Vec::new() } else { vec![message.to_owned()] };
    match format {
        "dns1123Label" => validate_name(&LABEL, text),
        "dns1123LabelPrefix" => validate_name(&LABEL, &mask_trailing_dash(text)),
        "dns1123Subdomain" => validate_name(&SUBDOMAIN, text),
        "dns1123SubdomainPrefix" => validate_name(&SUBDOMAIN, &mask_trailing_dash(text)),
        "dns1035Label" => validate_name(&LABEL_1035, text),
        "dns1035LabelPrefix" => validate_name(&LABEL_1035, &mask_trailing_dash(text)),
        "labelValue" => validate_name(&LABEL_VALUE, text),
        "qualifiedName" => qualified_name(text),
        "uri" => url::parse(text).err().map(|reason| format!("parse {text:?}: {reason}")).into_iter().collect(),
        "uuid" => unless(is_uuid(text), "does not match the UUID format"),
        "byte" => unless(!text.is_empty() && base64::decode(text).is_some(), "invalid base64"),
        "date" => unless(time::parse_date(text).is_ok(), "invalid date"),
        _ => unless(time::parse_format_date_time(text).is_ok(), "invalid datetime"),
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    regex::compile(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(text))
}

/// The error for a text that does not match a pattern (apimachinery's `RegexError`).
fn mismatch(description: &str, examples: &[&str], pattern: &str) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    let examples = examples.join(" or ");
    format!("{description} (e.g. {examples}regex used for validation is '{pattern}')")
}

fn too_long(max: usize, unit: &str) -> String {
    format!("must be no more than {max} {unit}")
}

fn validate_name(format: &NameFormat, text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > format.max {
        errors.push(too_long(format.max, format.unit));
    }
    if !matches(format.pattern, text) {
        errors.push(mismatch(format.description, format.examples, format.pattern));
    }
    errors
}

/// Replaces the last two characters of a name prefix that ends in a dash (apimachinery's `maskTrailingDash`).
fn mask_trailing_dash(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let start: String = rest.chars().take(rest.chars().count() - 1).collect();
            format!("{start}a")
        }
        _ => text.to_owned(),
    }
}

fn qualified_name(text: &str) -> Vec<String> {
    let description = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                       alphanumeric character";
    let examples = ["MyName", "my.name", "123-abc"];
    let mut errors = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                errors.extend(
                    validate_name(&SUBDOMAIN, prefix).into_iter().map(|message| format!("prefix part {message}")),
                );
            }
            name
        }
        _ => {
            let message = mismatch(&format!("a valid label key {description}"), &examples, NAME_PART);
            return vec![format!(
                "{message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push(format!("name part {}", too_long(63, "bytes")));
    }
    if !matches(NAME_PART, name) {
        errors.push(format!("name part {}", mismatch(description, &examples, NAME_PART)));
    }
    errors
}

fn is_uuid(text: &str) -> bool {
    matches("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", text)
}
