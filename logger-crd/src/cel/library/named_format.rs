//! The formats rules may ask for by name.

use super::{base64, pattern, time, url};
use crate::cel::value::{Outcome, Value};

/// Their names, as `format.<name>()` and `format.named('<name>')` take them.
pub(in crate::cel) const NAMES: [&str; 13] = [
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

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    let named = |name: &str| NAMES.into_iter().find(|known| *known == name).map(Value::Format);
    Some(Ok(match (function, args) {
        ("format.named", [Value::String(name)]) => named(name).map_or(Value::Optional(None), Value::some),
        ("validate", [Value::Format(format), Value::String(text)]) => {
            let wrong: Vec<Value<'a>> = validate(format, text).into_iter().map(Value::text).collect();
            if wrong.is_empty() { Value::Optional(None) } else { Value::some(Value::list(wrong)) }
        }
        (_, []) => named(function.strip_prefix("format.")?)?,
        _ => return None,
    }))
}

/// What a kind of name must be like.
struct Rule {
    pattern: &'static str,
    max: usize,
    /// What the length is counted in, in the message: the server has two.
    unit: &'static str,
    says: &'static str,
    examples: &'static [&'static str],
}

const LABEL: Rule = Rule {
    pattern: "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
    max: 63,
    unit: "characters",
    says: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with \
           an alphanumeric character",
    examples: &["my-name", "123-abc"],
};
const SUBDOMAIN: Rule = Rule {
    pattern: r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
    max: 253,
    unit: "characters",
    says: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and \
           end with an alphanumeric character",
    examples: &["example.com"],
};
const LABEL_1035: Rule = Rule {
    pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
    max: 63,
    unit: "characters",
    says: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and \
           end with an alphanumeric character",
    examples: &["my-name", "abc-123"],
};
const NAME_PART: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE: Rule = Rule {
    pattern: "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
    max: 63,
    unit: "bytes",
    says: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end \
           with an alphanumeric character",
    examples: &["MyValue", "my_value", "12345"],
};

fn validate(format: &str, text: &str) -> Vec<String> {
    let unless = |holds: bool, message: &str| if holds { Vec::new() } else { vec![message.to_owned()] };
    match format {
        "dns1123Label" => named(&LABEL, text),
        "dns1123LabelPrefix" => named(&LABEL, &without_dash(text)),
        "dns1123Subdomain" => named(&SUBDOMAIN, text),
        "dns1123SubdomainPrefix" => named(&SUBDOMAIN, &without_dash(text)),
        "dns1035Label" => named(&LABEL_1035, text),
        "dns1035LabelPrefix" => named(&LABEL_1035, &without_dash(text)),
        "labelValue" => named(&LABEL_VALUE, text),
        "qualifiedName" => qualified_name(text),
        "uri" => url::parse(text).err().map(|why| format!("parse {text:?}: {why}")).into_iter().collect(),
        "uuid" => unless(is_uuid(text), "does not match the UUID format"),
        "byte" => unless(!text.is_empty() && base64::decode(text).is_some(), "invalid base64"),
        "date" => unless(time::parse_date(text).is_ok(), "invalid date"),
        _ => unless(time::parse_format_date_time(text).is_ok(), "invalid datetime"),
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    pattern::compile(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(text))
}

/// What is said of a text that does not fit a pattern.
fn mismatch(says: &str, examples: &[&str], pattern: &str) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    let examples = examples.join(" or ");
    format!("{says} (e.g. {examples}regex used for validation is '{pattern}')")
}

fn too_long(max: usize, unit: &str) -> String {
    format!("must be no more than {max} {unit}")
}

fn named(rule: &Rule, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > rule.max {
        wrong.push(too_long(rule.max, rule.unit));
    }
    if !fits(rule.pattern, text) {
        wrong.push(mismatch(rule.says, rule.examples, rule.pattern));
    }
    wrong
}

/// A prefix of a name, whose last character may be a dash.
fn without_dash(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let kept: String = rest.chars().take(rest.chars().count() - 1).collect();
            format!("{kept}a")
        }
        _ => text.to_owned(),
    }
}

fn qualified_name(text: &str) -> Vec<String> {
    let says = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let examples = ["MyName", "my.name", "123-abc"];
    let mut wrong = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".to_owned());
            } else {
                wrong.extend(named(&SUBDOMAIN, prefix).into_iter().map(|message| format!("prefix part {message}")));
            }
            name
        }
        _ => {
            let message = mismatch(&format!("a valid label key {says}"), &examples, NAME_PART);
            return vec![format!(
                "{message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrong.push(format!("name part {}", too_long(63, "bytes")));
    }
    if !fits(NAME_PART, name) {
        wrong.push(format!("name part {}", mismatch(says, &examples, NAME_PART)));
    }
    wrong
}

fn is_uuid(text: &str) -> bool {
    fits("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", text)
}
