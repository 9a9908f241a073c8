//! Changes of the value validations of a schema: format, default, enum, bounds, pattern.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::{
    Changes,
    Class::{Breaking, Safe, Tightening},
    Pair, order, same,
};
use crate::{
    schema::{JUNCTORS, KEYWORDS},
    value::is_supported_format,
};

pub(super) fn compare(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    format(pair, path, changes);
    nullable(pair, path, changes);
    default(pair, path, changes);
    enum_values(pair, path, changes);
    pattern(pair, path, changes);
    multiple_of(pair, path, changes);
    for (name, exclusive, values) in BOUNDS {
        bound(pair, name, *exclusive, values, path, changes);
    }
    unknown_keywords(pair, path, changes);
}

fn format(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let format = |schema: &Map<String, Value>| schema.get("format").and_then(Value::as_str).map(str::to_owned);
    let is_number = matches!(pair.new.get("type").and_then(Value::as_str), Some("integer" | "number"));
    let (class, what) = match (format(pair.old).as_deref(), format(pair.new).as_deref()) {
        (old, new) if old == new => return,
        (None, Some(new)) if is_number || is_supported_format(new) => {
            (Tightening, "values without this format are rejected")
        }
        (None, Some(_)) => (Safe, "the server does not support this format and ignores it"),
        (Some("int32" | "float"), None) => {
            (Breaking, "larger numbers are accepted: clients that decode 32 bits cannot read them")
        }
        (Some(_), None) => (Safe, "the format is no longer validated: readers can receive other values"),
        (Some(_), Some(_)) | (None, None) => {
            (Breaking, "the format changed: values of clients are rejected, or clients cannot decode values")
        }
    };
    changes.push_text(class, path, what, format(pair.old), format(pair.new));
}

fn nullable(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let (old, new) = pair.flags("nullable");
    match (old, new) {
        (true, false) => {
            changes.push(Tightening, path, "null is no longer accepted: it is pruned or rejected", None, None)
        }
        (false, true) => changes.push(Safe, path, "null is accepted: readers can receive it", None, None),
        _ => {}
    }
}

fn default(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let (class, what) = match pair.get("default") {
        _ if pair.same("default") => return,
        (None, _) if depends_on(path, &changes.enclosing) => {
            (Tightening, "the field has a default, which enclosing rules can reject")
        }
        (None, _) => (Safe, "the field has a default, which is also set in stored objects"),
        (_, None) => (Breaking, "the default is removed: the field can be absent"),
        _ => (Breaking, "requests and stored objects without the field have another meaning"),
    };
    changes.push(class, path, what, pair.old.get("default"), pair.new.get("default"));
}

/// Whether enclosing schemas limit the number of fields, or use the field in alternatives or rules.
pub(super) fn depends_on(path: &str, enclosing: &[&Map<String, Value>]) -> bool {
    let name = match path.strip_suffix("\"]").and_then(|path| path.rsplit_once("[\"")) {
        Some((_, name)) => name,
        None => path.rsplit('.').next().unwrap_or_default(),
    };
    let uses_name = |schema: &&Map<String, Value>| {
        let keywords = ["allOf", "anyOf", "not", "oneOf", "x-kubernetes-validations"];
        keywords.iter().filter_map(|keyword| schema.get(*keyword)).any(|rule| mentions(&rule.to_string(), name))
    };
    enclosing.last().is_some_and(|parent| parent.contains_key("maxProperties")) || enclosing.iter().any(uses_name)
}

/// Whether a rule contains a name, possibly escaped as in CEL.
fn mentions(rule: &str, name: &str) -> bool {
    let is_word_character = |c: char| c.is_alphanumeric() || c == '_';
    let is_plain = name.chars().all(is_word_character);
    rule.split(|c| !is_word_character(c)).any(|word| word == name || word.contains("__"))
        || !is_plain && rule.contains(name)
}

fn enum_values(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let (old, new) = pair.get("enum");
    let values = |list: Option<&Value>| list.and_then(Value::as_array).cloned().unwrap_or_default();
    match (old, new) {
        (None, None) => {}
        (None, Some(_)) => changes.push(Tightening, path, "other values are rejected", None, new),
        (Some(_), None) => {
            changes.push(
                Safe,
                path,
                "any value is accepted: readers with a closed enum cannot decode others",
                old,
                None,
            );
        }
        (Some(_), Some(_)) => {
            let (old, new) = (values(old), values(new));
            for removed in old.iter().filter(|value| !new.iter().any(|new| same(value, new))) {
                changes.push(Tightening, path, "the value is rejected", Some(removed), None);
            }
            for added in new.iter().filter(|value| !old.iter().any(|old| same(old, value))) {
                let what = "one more value is accepted: readers with a closed enum cannot decode it";
                changes.push(Safe, path, what, None, Some(added));
            }
        }
    }
}

fn pattern(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let (class, what) = match pair.get("pattern") {
        (old, new) if old == new => return,
        (None, _) => (Tightening, "strings that do not match are rejected"),
        (_, None) => (Safe, "any string is accepted: readers can receive others"),
        _ => (Tightening, "strings that do not match the new pattern are rejected"),
    };
    changes.push(class, path, what, pair.old.get("pattern"), pair.new.get("pattern"));
}

fn multiple_of(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let (class, what) = match pair.get("multipleOf") {
        _ if pair.same("multipleOf") => return,
        (_, None) => (Safe, "any number is accepted"),
        (Some(old), Some(new)) if divides(new, old) => (Safe, "more numbers are accepted"),
        _ => (Tightening, "numbers that are not a multiple of it are rejected"),
    };
    changes.push(class, path, what, pair.old.get("multipleOf"), pair.new.get("multipleOf"));
}

/// Whether an integer divides another. Always false for fractions.
fn divides(divisor: &Value, dividend: &Value) -> bool {
    match (divisor.as_i64(), dividend.as_i64()) {
        (Some(divisor), Some(dividend)) if divisor > 0 => dividend % divisor == 0,
        _ => false,
    }
}

/// The bounds, with the keyword that makes them exclusive, and the bounded values.
const BOUNDS: &[(&str, Option<&str>, &str)] = &[
    ("minimum", Some("exclusiveMinimum"), "numbers"),
    ("maximum", Some("exclusiveMaximum"), "numbers"),
    ("minLength", None, "strings"),
    ("maxLength", None, "strings"),
    ("minItems", None, "lists"),
    ("maxItems", None, "lists"),
    ("minProperties", None, "objects"),
    ("maxProperties", None, "objects"),
];

fn bound(pair: Pair<'_>, name: &str, exclusive: Option<&str>, values: &str, path: &str, changes: &mut Changes<'_>) {
    let (was_exclusive, is_exclusive) = exclusive.map_or((false, false), |name| pair.flags(name));
    let is_minimum = name.starts_with("min");
    let is_stricter = match pair.get(name) {
        (None, None) => return,
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (Some(old), Some(new)) => match order(old, new) {
            Some(Ordering::Equal) if was_exclusive == is_exclusive => return,
            Some(Ordering::Equal) => is_exclusive,
            Some(Ordering::Less) => is_minimum,
            Some(Ordering::Greater) => !is_minimum,
            None => true,
        },
    };
    let (class, what) = match (is_stricter, is_minimum) {
        (true, true) => (Tightening, format!("smaller {values} are rejected (`{name}`)")),
        (true, false) => (Tightening, format!("larger {values} are rejected (`{name}`)")),
        (false, true) => (Safe, format!("smaller {values} are accepted (`{name}`)")),
        (false, false) => (Safe, format!("larger {values} are accepted (`{name}`)")),
    };
    let text = |value: Option<&Value>, exclusive: bool| {
        value.map(|value| if exclusive { format!("{value}, exclusive") } else { value.to_string() })
    };
    changes.push_text(
        class,
        path,
        what,
        text(pair.old.get(name), was_exclusive),
        text(pair.new.get(name), is_exclusive),
    );
}

fn unknown_keywords(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let removed = pair.old.keys().filter(|name| !pair.new.contains_key(*name));
    for name in pair.new.keys().chain(removed) {
        if !is_compared(name) && !pair.same(name) {
            let what = format!("`{name}` changed, whose effect is unknown");
            changes.push(Tightening, path, what, pair.old.get(name), pair.new.get(name));
        }
    }
}

/// Whether a keyword is compared elsewhere, or irrelevant for programs.
fn is_compared(keyword: &str) -> bool {
    KEYWORDS.contains(&keyword) || JUNCTORS.contains(&keyword) || keyword == "not"
}
