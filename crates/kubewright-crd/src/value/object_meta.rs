//! The `metadata` of objects as Go decodes and encodes it: `ObjectMeta` of apimachinery 1.36.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::go;

/// The fields of `ObjectMeta` with their types, in the order in which Go decodes them.
const META: [(&str, Type); 15] = [
    ("annotations", Type::StringMap),
    ("creationTimestamp", Type::Time),
    ("deletionGracePeriodSeconds", Type::Integer),
    ("deletionTimestamp", Type::Time),
    ("finalizers", Type::StringList),
    ("generateName", Type::String),
    ("generation", Type::Integer),
    ("labels", Type::StringMap),
    ("managedFields", Type::List("[]v1.ManagedFieldsEntry")),
    ("name", Type::String),
    ("namespace", Type::String),
    ("ownerReferences", Type::List("[]v1.OwnerReference")),
    ("resourceVersion", Type::String),
    ("selfLink", Type::String),
    ("uid", Type::Uid),
];

#[derive(Clone, Copy, PartialEq)]
enum Type {
    String,
    Uid,
    Time,
    Integer,
    StringMap,
    /// A list of this Go type.
    List(&'static str),
    StringList,
}

impl Type {
    fn accepts(self, value: &Value) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::String | Self::Uid | Self::Time => value.is_string(),
            Self::Integer => value.is_i64(),
            Self::StringMap => {
                value.as_object().is_some_and(|fields| fields.values().all(|v| v.is_string() || v.is_null()))
            }
            Self::List(_) => value.as_array().is_some_and(|items| items.iter().all(|v| v.is_object() || v.is_null())),
            Self::StringList => {
                value.as_array().is_some_and(|items| items.iter().all(|v| v.is_string() || v.is_null()))
            }
        }
    }

    fn go_name(self) -> &'static str {
        match self {
            Self::String | Self::Time | Self::StringMap | Self::StringList => "string",
            Self::Uid => "types.UID",
            Self::Integer => "int64",
            Self::List(type_) => type_,
        }
    }
}

/// Whether `ObjectMeta` has a field with this name.
pub(crate) fn is_known(name: &str) -> bool {
    META.iter().any(|(known, _)| *known == name)
}

/// Returns metadata as Go decodes and encodes it: without unknown, invalid and empty fields, and with times in UTC.
pub(super) fn round_trip(meta: &Map<String, Value>) -> Map<String, Value> {
    let field = |(name, type_): &(&str, Type)| {
        let value = meta.get(*name).filter(|value| !value.is_null() && type_.accepts(value))?;
        Some(((*name).to_owned(), type_.round_trip(name, value)?))
    };
    META.iter().filter_map(field).collect()
}

impl Type {
    fn round_trip(self, name: &str, value: &Value) -> Option<Value> {
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
        let string = |value: &Value| Value::from(value.as_str().unwrap_or_default());
        match (self, value) {
            (Self::Time, value) => {
                let time: Timestamp = value.as_str()?.parse().ok()?;
                Timestamp::from_second(time.as_second()).ok().map(|time| time.to_string().into())
            }
            (Self::StringMap, Value::Object(fields)) => {
                Some(fields.iter().map(|(name, value)| (name.clone(), string(value))).collect())
            }
            (Self::StringList, Value::Array(items)) => Some(items.iter().map(string).collect()),
            (Self::List(_), Value::Array(items)) if name == "ownerReferences" => {
                Some(items.iter().map(round_trip_owner).collect())
            }
            (_, value) => Some(value.clone()),
        }
    }
}

/// Returns an owner reference with the fields that Go encodes even if they are empty.
fn round_trip_owner(owner: &Value) -> Value {
    let field = |name: &str| owner.get(name).cloned().filter(|value| !value.is_null());
    let strings =
        ["apiVersion", "kind", "name", "uid"].map(|name| (name, Some(field(name).unwrap_or_else(|| "".into()))));
    let flags = ["controller", "blockOwnerDeletion"].map(|name| (name, field(name)));
    let fields = strings.into_iter().chain(flags);
    fields.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>().into()
}

/// Returns the error of Go's decoder for metadata that it cannot decode.
pub(super) fn decode_error(meta: &Value) -> Option<String> {
    if meta.is_null() {
        return None;
    }
    let Value::Object(fields) = meta else {
        return Some(format!("json: cannot unmarshal {} into Go value of type v1.ObjectMeta", go::json_type(meta)));
    };
    let invalid = META.iter().find_map(|(name, type_)| {
        let value = fields.get(*name)?;
        let is_time = *type_ == Type::Time;
        let time_error = value.as_str().filter(|_| is_time).and_then(time_parse_error);
        (time_error.is_some() || !type_.accepts(value)).then_some((name, type_, value, time_error))
    });
    invalid.map(|(name, type_, value, time_error)| {
        if let Some(error) = time_error {
            return error;
        }
        let inner = || match value {
            Value::Object(fields) => fields.values().find(|value| !value.is_string()),
            Value::Array(items) => items.iter().find(|value| !value.is_string()),
            _ => None,
        };
        let (found, go_type) = match (type_, inner()) {
            (Type::StringMap | Type::StringList, Some(inner)) => (inner, type_.go_name()),
            (Type::StringMap, None) => (value, "map[string]string"),
            (Type::StringList, None) => (value, "[]string"),
            _ => (value, type_.go_name()),
        };
        format!(
            "json: cannot unmarshal {} into Go struct field ObjectMeta.{name} of type {go_type}",
            go::json_type(found)
        )
    })
}

/// Returns the error of Go's `time.Parse`, which names the first part that does not match the layout.
fn time_parse_error(text: &str) -> Option<String> {
    const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
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
    let error = |rest: &str, part: &str| {
        Some(format!("parsing time {text:?} as {LAYOUT:?}: cannot parse {rest:?} as {part:?}"))
    };
    for part in PARTS {
        let found = rest.get(..part.len());
        if !found.is_some_and(|found| found == part || is_digits(part) && is_digits(found)) {
            return error(rest, part);
        }
        rest = &rest[part.len()..];
    }
    if zone(rest) { None } else { error(rest, "Z07:00") }
}
