//! Changes between two definitions, and their compatibility.
//!
//! [`compare`] compares the current definition of a resource with its replacement. Versions are compared by name. Each
//! change has a [`Class`]; if two apply, it is the worse one.
//!
//! # The definition
//!
//! | Change | Class | Why |
//! |---|---|---|
//! | group, plural | rejected | immutable: it would be the definition of another resource |
//! | kind, scope | rejected | immutable once the definition is established |
//! | version removed that is in `status.storedVersions`, or that was the storage version | rejected | stored objects could not be read |
//! | served version removed | breaking | its clients get 404 |
//! | version removed that was not served | safe | it had no clients; breaking if `status.storedVersions` is unknown, as in a file |
//! | version added | safe | its schema is not compared with that of another version |
//! | other storage version | safe | but breaking for each field that the new one lacks, if there is no conversion |
//! | list kind, singular, short name removed or changed | breaking | clients decode lists by it, scripts use it |
//! | category removed, names added | safe | `kubectl get all` shows fewer or more resources |
//! | conversion removed while several versions are served | breaking | versions are served as they are stored |
//! | conversion added or changed otherwise | safe | the behavior of the webhook is unknown |
//!
//! # A version
//!
//! | Change | Class | Why |
//! |---|---|---|
//! | no longer served | breaking | its clients get 404 |
//! | served again, deprecated, columns | safe | only the output for people changes |
//! | status subresource added | breaking | a write of the complete object no longer changes the status |
//! | status subresource, scale subresource or its selector removed | breaking | clients get 404, autoscalers do not find pods |
//! | path of the scale subresource changed | breaking | autoscalers read and write another field |
//! | scale subresource or its selector added | safe | |
//! | selectable field removed | breaking | field selectors with it are rejected; added is safe |
//!
//! # A schema
//!
//! | Change | Class | Why |
//! |---|---|---|
//! | field removed | breaking | its values are pruned without an error; safe if unknown fields are preserved |
//! | type, or to or from int-or-string | breaking | in both directions: values of clients are rejected, or clients cannot decode values |
//! | format changed, `int32` removed | breaking | values of clients are rejected, or clients cannot decode values |
//! | format added | tightening | safe if the server does not support the format, because it ignores it |
//! | format removed | safe | readers can receive other values |
//! | field required, new or not, without default | breaking | requests without it are rejected; safe with a default |
//! | field no longer required | safe | readers can receive objects without it |
//! | optional field added | safe | tightening if its name was allowed by unknown fields or a map |
//! | default changed or removed | breaking | the same request has another meaning |
//! | default added | safe | stored objects get it, too; tightening if `maxProperties`, alternatives or an enclosing rule depend on the field |
//! | nullable removed | tightening | added is safe; readers can receive nulls |
//! | enum value removed, enum added | tightening | |
//! | enum value added, enum removed | safe | readers with a closed enum cannot decode it |
//! | stricter bound, new or changed `pattern`, `multipleOf` that is not a divisor | tightening | looser or removed is safe |
//! | `allOf` branch added, `anyOf` branch removed, `oneOf` or `not` added or changed | tightening | the reverse is safe |
//! | CEL rule added, or also evaluated on create (`optionalOldSelf`) | tightening | removed is safe, and so is another message |
//! | list type, list keys, map type | breaking | other field ownership under server-side apply, other merges; lists may not have duplicate keys |
//! | unknown fields no longer preserved | breaking | they are pruned without an error; preserved is safe |
//! | map of any values to map with a schema | breaking | likewise; the reverse is breaking if the values have objects, whose fields are pruned, else safe |
//! | embedded resource added | tightening | it must have `apiVersion` and `kind`; removed is breaking unless unknown fields are preserved |
//! | any other keyword | tightening | an unknown keyword can reject values |
//! | description, title, example, external docs | none | not relevant for programs, and not reported |
//!
//! Tightening changes reject values that were accepted. Stored objects can keep them: with ratcheting, which is enabled
//! since Kubernetes 1.30, an update that does not change the field is accepted, except inside of alternatives and for
//! rules with `oldSelf`.
//!
//! Labels and annotations of the definition are not compared.

mod definition;
mod keywords;
pub mod olm;
#[cfg(test)]
mod property;
mod rules;
mod schema;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value, json};

/// Compares the current definition with its replacement, both of `apiextensions.k8s.io/v1`. Returns the changes of the
/// definition, then those of each version in the order of `spec.versions`.
///
/// Fields of a wrong type count as absent, so validate the definitions first.
pub fn compare(old: &Value, new: &Value) -> Vec<Change> {
    let mut changes = Changes::default();
    definition::compare(old, new, &mut changes);
    changes.list
}

/// A change between two definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The version it is about; `None` if it is about all of them.
    pub version: Option<String>,
    /// Where it is: a field of the object, such as `.spec.ports[].name` (`[]` is each item, `{}` each value of a map),
    /// or a part of the definition, which does not begin with a dot, such as `spec.scope`.
    pub path: String,
    /// The compatibility of the change.
    pub class: Class,
    /// The description of the change and of its effect, without a full stop.
    pub what: String,
    /// The old value: JSON, or the type of a field.
    pub old: Option<String>,
    /// The new value.
    pub new: Option<String>,
}

/// The compatibility of a change, from compatible to impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// All accepted values are still accepted, and nothing is pruned. Readers can receive other values than before.
    Safe,
    /// Some accepted values are rejected. Stored ones can stay.
    Tightening,
    /// Valid clients fail, read another value, or lose data.
    Breaking,
    /// The API server rejects the update of the definition, or OLM does in [`olm::compare`].
    Rejected,
}

impl Class {
    /// Returns the name of the class, such as `breaking`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::Safe => "safe",
            Class::Tightening => "tightening",
            Class::Breaking => "breaking",
            Class::Rejected => "rejected",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Change {
    /// Returns the change as JSON, with the names of its fields as keys, and `null` for absent values.
    pub fn to_json(&self) -> Value {
        json!({
            "version": self.version,
            "path": self.path,
            "class": self.class.as_str(),
            "what": self.what,
            "old": self.old,
            "new": self.new,
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { version, path, class, what, old, new } = self;
        let version = version.as_ref().map_or_else(String::new, |version| format!("{version} "));
        write!(f, "{class}: {version}{path}: {what}")?;
        match (old, new) {
            (Some(old), Some(new)) => write!(f, " ({old} -> {new})"),
            (Some(text), None) | (None, Some(text)) => write!(f, " ({text})"),
            (None, None) => Ok(()),
        }
    }
}

/// The collected changes, with the context of the comparison.
#[derive(Default)]
struct Changes<'a> {
    version: Option<String>,
    list: Vec<Change>,
    /// The new schemas that enclose the current one, outermost first.
    enclosing: Vec<&'a Map<String, Value>>,
}

impl Changes<'_> {
    fn push(&mut self, class: Class, path: &str, what: impl Into<String>, old: Option<&Value>, new: Option<&Value>) {
        self.push_text(class, path, what, old.map(Value::to_string), new.map(Value::to_string));
    }

    fn push_text(
        &mut self,
        class: Class,
        path: &str,
        what: impl Into<String>,
        old: Option<String>,
        new: Option<String>,
    ) {
        let version = self.version.clone();
        self.list.push(Change { version, path: path.to_owned(), class, what: what.into(), old, new });
    }
}

/// The old and the new JSON object.
#[derive(Clone, Copy)]
struct Pair<'a> {
    old: &'a Map<String, Value>,
    new: &'a Map<String, Value>,
}

impl<'a> Pair<'a> {
    /// Returns `None` if one of them is not an object.
    fn new(old: &'a Value, new: &'a Value) -> Option<Self> {
        Some(Pair { old: old.as_object()?, new: new.as_object()? })
    }

    /// Returns the values of a key.
    fn get(self, name: &str) -> (Option<&'a Value>, Option<&'a Value>) {
        (self.old.get(name), self.new.get(name))
    }

    /// Whether the values of a key are equal.
    fn same(self, name: &str) -> bool {
        match self.get(name) {
            (Some(old), Some(new)) => same(old, new),
            (old, new) => old.is_none() && new.is_none(),
        }
    }

    /// Returns the boolean values of a key.
    fn flags(self, name: &str) -> (bool, bool) {
        let flag = |value: Option<&Value>| value == Some(&Value::Bool(true));
        (flag(self.old.get(name)), flag(self.new.get(name)))
    }
}

/// Whether the server considers two values as equal, such as `1` and `1.0`.
fn same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Number(_), Value::Number(_)) => order(old, new) == Some(std::cmp::Ordering::Equal),
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same(old, new))
        }
        (Value::Object(old), Value::Object(new)) => {
            let is_in_new = |(name, old): (&String, &Value)| new.get(name).is_some_and(|new| same(old, new));
            old.len() == new.len() && old.iter().all(is_in_new)
        }
        (old, new) => old == new,
    }
}

/// Compares two numbers. Returns `None` if one of them is not a number.
fn order(old: &Value, new: &Value) -> Option<std::cmp::Ordering> {
    match (old.as_i64(), new.as_i64()) {
        (Some(old), Some(new)) => Some(old.cmp(&new)),
        _ => old.as_f64()?.partial_cmp(&new.as_f64()?),
    }
}

/// Returns the strings of a list.
fn strings(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
