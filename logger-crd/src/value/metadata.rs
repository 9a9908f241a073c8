//! The `metadata` of objects as Go reads it: `ObjectMeta` of apimachinery 1.36.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::go;

/// Types of the fields of `metadata`, in the order Go comes to them.
const META: [(&str, Type); 15] = [
    ("annotations", Type::Texts),
    ("creationTimestamp", Type::Time),
    ("deletionGracePeriodSeconds", Type::Integer),
    ("deletionTimestamp", Type::Time),
    ("finalizers", Type::ListOfTexts),
    ("generateName", Type::Text),
    ("generation", Type::Integer),
    ("labels", Type::Texts),
    ("managedFields", Type::List("[]v1.ManagedFieldsEntry")),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("ownerReferences", Type::List("[]v1.OwnerReference")),
    ("resourceVersion", Type::Text),
    ("selfLink", Type::Text),
    ("uid", Type::Uid),
];

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Text,
    Uid,
    Time,
    Integer,
    Texts,
    /// Of this Go type.
    List(&'static str),
    ListOfTexts,
}

impl Type {
    fn is_of(self, value: &Value) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::Text | Self::Uid | Self::Time => value.is_string(),
            Self::Integer => value.is_i64(),
            Self::Texts => {
                value.as_object().is_some_and(|fields| fields.values().all(|v| v.is_string() || v.is_null()))
            }
            Self::List(_) => value.as_array().is_some_and(|items| items.iter().all(|v| v.is_object() || v.is_null())),
            Self::ListOfTexts => {
                value.as_array().is_some_and(|items| items.iter().all(|v| v.is_string() || v.is_null()))
            }
        }
    }

    fn in_go(self) -> &'static str {
        match self {
            Self::Text | Self::Time | Self::Texts | Self::ListOfTexts => "string",
            Self::Uid => "types.UID",
            Self::Integer => "int64",
            Self::List(type_) => type_,
        }
    }
}

/// Whether metadata has a field of this name.
pub(super) fn is_known(name: &str) -> bool {
    META.iter().any(|(known, _)| *known == name)
}

/// What Go has once it has read metadata and writes it again: without what is unknown, unreadable or empty, times in UTC.
pub(super) fn normal(meta: &Map<String, Value>) -> Map<String, Value> {
    let field = |(name, type_): &(&str, Type)| {
        let value = meta.get(*name).filter(|value| !value.is_null() && type_.is_of(value))?;
        Some(((*name).to_owned(), type_.normal(name, value)?))
    };
    META.iter().filter_map(field).collect()
}

impl Type {
    fn normal(self, name: &str, value: &Value) -> Option<Value> {
        let is_zero = match value {
            Value::String(text) => text.is_empty(),
            Value::Number(number) => name == "generation" && number.as_i64() == Some(0),
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Null | Value::Bool(_) => false,
        };
        if is_zero {
            return None;
        }
        let text = |value: &Value| Value::from(value.as_str().unwrap_or_default());
        match (self, value) {
            (Self::Time, value) => {
                let time: Timestamp = value.as_str()?.parse().ok()?;
                Timestamp::from_second(time.as_second()).ok().map(|time| time.to_string().into())
            }
            (Self::Texts, Value::Object(fields)) => {
                Some(fields.iter().map(|(name, value)| (name.clone(), text(value))).collect())
            }
            (Self::ListOfTexts, Value::Array(items)) => Some(items.iter().map(text).collect()),
            (Self::List(_), Value::Array(items)) if name == "ownerReferences" => {
                Some(items.iter().map(owner).collect())
            }
            (_, value) => Some(value.clone()),
        }
    }
}

/// An owner with all that Go writes even if it is empty.
fn owner(owner: &Value) -> Value {
    let field = |name: &str| owner.get(name).cloned().filter(|value| !value.is_null());
    let texts =
        ["apiVersion", "kind", "name", "uid"].map(|name| (name, Some(field(name).unwrap_or_else(|| "".into()))));
    let flags = ["controller", "blockOwnerDeletion"].map(|name| (name, field(name)));
    let fields = texts.into_iter().chain(flags);
    fields.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>().into()
}

/// Why Go cannot read metadata.
pub(super) fn unreadable(meta: &Value) -> Option<String> {
    if meta.is_null() {
        return None;
    }
    let Value::Object(fields) = meta else {
        return Some(format!("json: cannot unmarshal {} into Go value of type v1.ObjectMeta", go::json_type(meta)));
    };
    let wrong = META.iter().find_map(|(name, type_)| {
        let value = fields.get(*name)?;
        let is_time = *type_ == Type::Time;
        let untimely = value.as_str().filter(|_| is_time).and_then(unreadable_time);
        (untimely.is_some() || !type_.is_of(value)).then_some((name, type_, value, untimely))
    });
    wrong.map(|(name, type_, value, untimely)| {
        if let Some(why) = untimely {
            return why;
        }
        let inner = || match value {
            Value::Object(fields) => fields.values().find(|value| !value.is_string()),
            Value::Array(items) => items.iter().find(|value| !value.is_string()),
            _ => None,
        };
        let (found, go_type) = match (type_, inner()) {
            (Type::Texts | Type::ListOfTexts, Some(inner)) => (inner, type_.in_go()),
            (Type::Texts, None) => (value, "map[string]string"),
            (Type::ListOfTexts, None) => (value, "[]string"),
            _ => (value, type_.in_go()),
        };
        format!(
            "json: cannot unmarshal {} into Go struct field ObjectMeta.{name} of type {go_type}",
            go::json_type(found)
        )
    })
}

/// Why Go cannot read a time: the first part of it that is another than in its example.
fn unreadable_time(text: &str) -> Option<String> {
    const EXAMPLE: &str = "2006-01-02T15:04:05Z07:00";
    const PARTS: [&str; 11] = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"];
    let mut rest = text;
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let zone = |rest: &str| {
        let fraction = rest.strip_prefix('.').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        match fraction.unwrap_or(rest).as_bytes() {
            b"Z" => true,
            [b'+' | b'-', hour @ .., b':', m, n] => {
                hour.len() == 2 && [hour, &[*m, *n]].concat().iter().all(u8::is_ascii_digit)
            }
            _ => false,
        }
    };
    let refused = |rest: &str, part: &str| {
        Some(format!("parsing time {text:?} as {EXAMPLE:?}: cannot parse {rest:?} as {part:?}"))
    };
    for part in PARTS {
        let found = rest.get(..part.len());
        if !found.is_some_and(|found| found == part || is_digits(part) && is_digits(found)) {
            return refused(rest, part);
        }
        rest = &rest[part.len()..];
    }
    if zone(rest) { None } else { refused(rest, "Z07:00") }
}
