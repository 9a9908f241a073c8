//! What changed between two definitions, and whom it breaks.
//!
//! [`definitions`] compares two CustomResourceDefinitions of one resource, the one that is in use and the one that is to
//! replace it. Versions are compared by name. Each difference has a [`Class`]; where two could be had, the worse one counts.
//!
//! # The definition
//!
//! | Change | Class | Why |
//! |---|---|---|
//! | group, plural | refused | the server never lets them change: it is the definition of another resource |
//! | kind, scope | refused | the server keeps them once the definition is established |
//! | a version removed that `status.storedVersions` names, or that was the storage version | refused | stored objects could not be read |
//! | a served version removed | breaking | its clients get 404 |
//! | a version removed that was not served | safe | nobody could use it; refused while `status.storedVersions` names it |
//! | a version added | safe | its schema is compared with none; that of its predecessor stays as it is |
//! | another storage version | safe | but breaking for each field that the new one does not have, if nothing converts |
//! | list kind, singular, short name removed or changed | breaking | clients decode lists by it, scripts call it by it |
//! | category removed, names added | safe | `kubectl get all` shows less or more |
//! | conversion dropped while several versions are served | breaking | versions are served as they are stored |
//! | conversion added or changed otherwise | safe | what the webhook does cannot be seen here |
//!
//! # A version
//!
//! | Change | Class | Why |
//! |---|---|---|
//! | served no more | breaking | its clients get 404 |
//! | served again, deprecated, columns | safe | people see something else, programs do not |
//! | status subresource added | breaking | whoever wrote the status with the object writes nothing now |
//! | status subresource, scale subresource or its selector removed | breaking | their clients get 404, autoscalers lose their pods |
//! | a path of the scale subresource changed | breaking | autoscalers read and write another field |
//! | scale subresource or its selector added | safe | |
//! | selectable field removed | breaking | field selectors with it are refused; added is safe |
//!
//! # A schema
//!
//! | Change | Class | Why |
//! |---|---|---|
//! | field removed | breaking | its values are dropped without an error; safe where unknown fields are kept |
//! | type, or to or from int-or-string | breaking | in both directions: writers are refused or readers cannot decode |
//! | format changed, `int32` dropped | breaking | writers are refused or readers cannot decode |
//! | format added | tightening | safe if the server does not know the format: it checks nothing then |
//! | format removed | safe | readers see values they have not seen |
//! | field required, new or not, without default | breaking | who does not send it is refused; safe with a default |
//! | field required no more | safe | readers see objects without it |
//! | optional field added | safe | tightening where the name was taken by unknown fields or a map |
//! | default changed or removed | breaking | the same request means something else |
//! | default added | safe | objects that are stored get it too; tightening where `maxProperties`, alternatives or a rule around it count or name the field |
//! | nullable dropped | tightening | added is safe; readers see nulls |
//! | value of an enum removed, enum added | tightening | |
//! | value of an enum added, enum removed | safe | readers with a closed enum cannot decode it |
//! | bound narrower, new `pattern`, other `pattern`, `multipleOf` that is no divisor | tightening | wider or removed is safe |
//! | `allOf` branch added, `anyOf` branch removed, `oneOf` or `not` added or changed | tightening | the reverse is safe |
//! | CEL rule added, or checked on create too (`optionalOldSelf`) | tightening | removed is safe, and so is another message |
//! | list type, list keys, map type | breaking | other owners under server-side apply, other merges; a list may not repeat keys |
//! | unknown fields kept no more | breaking | they are dropped without an error; kept from now on is safe |
//! | map of anything to map of something | breaking | likewise; of something to anything is breaking if fields of objects were in it, which are dropped then, else safe |
//! | embedded resource: added | tightening | it must have `apiVersion` and `kind`; removed is breaking unless unknown fields are kept |
//! | any other keyword | tightening | what is not understood may refuse something |
//! | description, title, example, external docs | none | they say nothing to a program, and are not reported |
//!
//! Tightening refuses values that were taken. Objects that are stored already may keep them: an update passes that leaves
//! the field as it was (ratcheting, on by default since Kubernetes 1.30), save inside junctors and for rules with `oldSelf`.
//!
//! Labels and annotations of the definition are not compared.

mod definition;
mod keywords;
#[cfg(test)]
mod property;
mod rules;
mod schema;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value, json};

/// Compares the definition that is in use with the one that is to replace it, both of `apiextensions.k8s.io/v1`. Those of
/// the definition come first, then those of each version, in the order of `spec.versions`.
///
/// What is not of the form of a definition is taken as absent: check it first.
pub fn definitions(old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Found::default();
    definition::compare(old, new, &mut found);
    found.changes
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The version it is about; `None` if it is about all of them.
    pub version: Option<String>,
    /// Where it is: a field of the object, such as `.spec.ports[].name` (`[]` is each item, `{}` each value of a map), or a
    /// part of the definition, which does not begin with a dot, such as `spec.scope`.
    pub path: String,
    /// What it means.
    pub class: Class,
    /// What changed and for whom, in one sentence without a full stop.
    pub what: String,
    /// What was there: JSON, or a field's type.
    pub old: Option<String>,
    /// What is there now.
    pub new: Option<String>,
}

/// What a change means, from harmless to impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Whatever clients send is still taken, and nothing is lost. Readers may see what they have not seen before.
    Safe,
    /// Some values that were taken are refused. Stored ones may stay.
    Tightening,
    /// Clients that are right today fail, read something else, or lose data.
    Breaking,
    /// The API server does not take the new definition in place of the old.
    Refused,
}

impl Class {
    /// The word for it, such as `breaking`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::Safe => "safe",
            Class::Tightening => "tightening",
            Class::Breaking => "breaking",
            Class::Refused => "refused",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Change {
    /// The change as JSON, with the names of its fields as keys; `null` stands for what is not there.
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

/// The changes of the version that is being compared, and those before it.
#[derive(Default)]
struct Found<'a> {
    version: Option<String>,
    changes: Vec<Change>,
    /// The new schemas around the one that is being compared, from the root on.
    around: Vec<&'a Map<String, Value>>,
}

impl Found<'_> {
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
        self.changes.push(Change { version, path: path.to_owned(), class, what: what.into(), old, new });
    }
}

/// Two JSON objects, the old and the new.
#[derive(Clone, Copy)]
struct Pair<'a> {
    old: &'a Map<String, Value>,
    new: &'a Map<String, Value>,
}

impl<'a> Pair<'a> {
    /// `None` if one of them is no object.
    fn of(old: &'a Value, new: &'a Value) -> Option<Self> {
        Some(Pair { old: old.as_object()?, new: new.as_object()? })
    }

    /// What both have under a name.
    fn get(self, name: &str) -> (Option<&'a Value>, Option<&'a Value>) {
        (self.old.get(name), self.new.get(name))
    }

    /// Whether they have the same under a name.
    fn same(self, name: &str) -> bool {
        match self.get(name) {
            (Some(old), Some(new)) => same(old, new),
            (old, new) => old.is_none() && new.is_none(),
        }
    }

    /// Whether they have `true` under a name.
    fn flags(self, name: &str) -> (bool, bool) {
        let flag = |value: Option<&Value>| value == Some(&Value::Bool(true));
        (flag(self.old.get(name)), flag(self.new.get(name)))
    }
}

/// Whether two values are one to the server: `1` and `1.0` are.
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

/// How two numbers compare; `None` if one is none.
fn order(old: &Value, new: &Value) -> Option<std::cmp::Ordering> {
    match (old.as_i64(), new.as_i64()) {
        (Some(old), Some(new)) => Some(old.cmp(&new)),
        _ => old.as_f64()?.partial_cmp(&new.as_f64()?),
    }
}

/// The texts of a list; what is no text is passed over.
fn texts(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
