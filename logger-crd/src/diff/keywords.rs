//! What a schema says of single values: format, default, enum, bounds, pattern.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::Class::{Breaking, Safe, Tightening};
use super::{Found, Pair, order, same};
use crate::schema::{JUNCTORS, KEYWORDS};

/// Formats of texts that the server checks, dashes left out (apiextensions-apiserver, `pkg/apiserver/validation/formats.go`
/// of v0.36). Of others it only warns.
const CHECKED_FORMATS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

pub(super) fn compare(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    format(pair, path, found);
    nullable(pair, path, found);
    default(pair, path, found);
    allowed(pair, path, found);
    pattern(pair, path, found);
    multiple(pair, path, found);
    for (name, exclusive, of) in BOUNDS {
        bound(pair, name, *exclusive, of, path, found);
    }
    others(pair, path, found);
}

fn format(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let format = |schema: &Map<String, Value>| schema.get("format").and_then(Value::as_str).map(str::to_owned);
    let is_number = matches!(pair.new.get("type").and_then(Value::as_str), Some("integer" | "number"));
    let (class, what) = match (format(pair.old).as_deref(), format(pair.new).as_deref()) {
        (old, new) if old == new => return,
        (None, Some(new)) if is_number || CHECKED_FORMATS.contains(&new.replace('-', "").as_str()) => {
            (Tightening, "what is not of this format is refused")
        }
        (None, Some(_)) => (Safe, "the server does not know this format and checks nothing"),
        (Some("int32" | "float"), None) => {
            (Breaking, "larger numbers are taken: clients that decode 32 bits cannot read them")
        }
        (Some(_), None) => (Safe, "the format is not checked any more: readers may see other values"),
        (Some(_), Some(_)) | (None, None) => {
            (Breaking, "the format is another: what clients send is refused, or they cannot decode what they read")
        }
    };
    found.push_text(class, path, what, format(pair.old), format(pair.new));
}

fn nullable(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let (old, new) = pair.flags("nullable");
    match (old, new) {
        (true, false) => {
            found.push(Tightening, path, "null is no value any more: it is dropped or refused", None, None)
        }
        (false, true) => found.push(Safe, path, "null is a value: readers may see it", None, None),
        _ => {}
    }
}

fn default(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let (class, what) = match pair.get("default") {
        _ if pair.same("default") => return,
        (None, _) if counts(path, &found.around) => {
            (Tightening, "a default is filled in where the field is not given, and rules around it may refuse that")
        }
        (None, _) => (Safe, "a default is filled in where the field is not given, in stored objects too"),
        (_, None) => (Breaking, "nothing is filled in any more where the field is not given"),
        _ => (Breaking, "requests that do not give the field mean something else, and so do stored objects without it"),
    };
    found.push(class, path, what, pair.old.get("default"), pair.new.get("default"));
}

/// Whether schemas around a field count it, or name it in alternatives or rules.
pub(super) fn counts(path: &str, around: &[&Map<String, Value>]) -> bool {
    let name = match path.strip_suffix("\"]").and_then(|path| path.rsplit_once("[\"")) {
        Some((_, name)) => name,
        None => path.rsplit('.').next().unwrap_or_default(),
    };
    let names = |schema: &&Map<String, Value>| {
        let keywords = ["allOf", "anyOf", "not", "oneOf", "x-kubernetes-validations"];
        keywords.iter().filter_map(|keyword| schema.get(*keyword)).any(|rule| mentions(&rule.to_string(), name))
    };
    around.last().is_some_and(|parent| parent.contains_key("maxProperties")) || around.iter().any(names)
}

/// Whether a word of a rule is the name, or is escaped as CEL escapes names.
fn mentions(rule: &str, name: &str) -> bool {
    let in_words = |c: char| c.is_alphanumeric() || c == '_';
    let is_plain = name.chars().all(in_words);
    rule.split(|c| !in_words(c)).any(|word| word == name || word.contains("__")) || !is_plain && rule.contains(name)
}

fn allowed(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let (old, new) = pair.get("enum");
    let values = |list: Option<&Value>| list.and_then(Value::as_array).cloned().unwrap_or_default();
    match (old, new) {
        (None, None) => {}
        (None, Some(_)) => found.push(Tightening, path, "other values are refused from now on", None, new),
        (Some(_), None) => {
            found.push(Safe, path, "any value is taken: readers that know only these cannot decode others", old, None);
        }
        (Some(_), Some(_)) => {
            let (old, new) = (values(old), values(new));
            for gone in old.iter().filter(|value| !new.iter().any(|new| same(value, new))) {
                found.push(Tightening, path, "the value is refused from now on", Some(gone), None);
            }
            for added in new.iter().filter(|value| !old.iter().any(|old| same(old, value))) {
                let what = "one more value is taken: readers that know only the others cannot decode it";
                found.push(Safe, path, what, None, Some(added));
            }
        }
    }
}

fn pattern(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let (class, what) = match pair.get("pattern") {
        (old, new) if old == new => return,
        (None, _) => (Tightening, "texts that do not match are refused"),
        (_, None) => (Safe, "any text is taken: readers may see others"),
        _ => (Tightening, "texts that do not match the new pattern are refused"),
    };
    found.push(class, path, what, pair.old.get("pattern"), pair.new.get("pattern"));
}

fn multiple(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let (class, what) = match pair.get("multipleOf") {
        _ if pair.same("multipleOf") => return,
        (_, None) => (Safe, "any number is taken"),
        (Some(old), Some(new)) if divides(new, old) => (Safe, "more numbers are taken"),
        _ => (Tightening, "numbers that are no multiples of it are refused"),
    };
    found.push(class, path, what, pair.old.get("multipleOf"), pair.new.get("multipleOf"));
}

/// Whether every multiple of the second is one of the first; of fractions nothing is said.
fn divides(divisor: &Value, of: &Value) -> bool {
    match (divisor.as_i64(), of.as_i64()) {
        (Some(divisor), Some(of)) if divisor > 0 => of % divisor == 0,
        _ => false,
    }
}

/// Each bound, the keyword that makes it exclusive, and what it is of.
const BOUNDS: &[(&str, Option<&str>, &str)] = &[
    ("minimum", Some("exclusiveMinimum"), "numbers"),
    ("maximum", Some("exclusiveMaximum"), "numbers"),
    ("minLength", None, "texts"),
    ("maxLength", None, "texts"),
    ("minItems", None, "lists"),
    ("maxItems", None, "lists"),
    ("minProperties", None, "objects"),
    ("maxProperties", None, "objects"),
];

fn bound(pair: Pair<'_>, name: &str, exclusive: Option<&str>, of: &str, path: &str, found: &mut Found<'_>) {
    let (was_exclusive, is_exclusive) = exclusive.map_or((false, false), |name| pair.flags(name));
    let is_least = name.starts_with("min");
    let narrower = match pair.get(name) {
        (None, None) => return,
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (Some(old), Some(new)) => match order(old, new) {
            Some(Ordering::Equal) if was_exclusive == is_exclusive => return,
            Some(Ordering::Equal) => is_exclusive,
            Some(Ordering::Less) => is_least,
            Some(Ordering::Greater) => !is_least,
            None => true,
        },
    };
    let (class, what) = match (narrower, is_least) {
        (true, true) => (Tightening, format!("smaller {of} are refused (`{name}`)")),
        (true, false) => (Tightening, format!("larger {of} are refused (`{name}`)")),
        (false, true) => (Safe, format!("smaller {of} are taken (`{name}`)")),
        (false, false) => (Safe, format!("larger {of} are taken (`{name}`)")),
    };
    let text = |value: Option<&Value>, exclusive: bool| {
        value.map(|value| if exclusive { format!("{value}, exclusive") } else { value.to_string() })
    };
    found.push_text(class, path, what, text(pair.old.get(name), was_exclusive), text(pair.new.get(name), is_exclusive));
}

fn others(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let gone = pair.old.keys().filter(|name| !pair.new.contains_key(*name));
    for name in pair.new.keys().chain(gone) {
        if !is_compared(name) && !pair.same(name) {
            let what = format!("`{name}` is another; what it refuses is not known here");
            found.push(Tightening, path, what, pair.old.get(name), pair.new.get(name));
        }
    }
}

/// Whether a keyword is compared elsewhere, or says nothing to a program.
fn is_compared(keyword: &str) -> bool {
    KEYWORDS.contains(&keyword) || JUNCTORS.contains(&keyword) || keyword == "not"
}
