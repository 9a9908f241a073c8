//! Access to the fields of an object for the cells of its row.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

use super::duration;
use crate::{api::object::Object, resource::selector};

pub(super) const NONE: &str = "<none>";
pub(super) const UNKNOWN: &str = "<unknown>";
pub(super) const UNSET: &str = "<unset>";

/// An object, and the current time.
pub(super) struct Row<'a> {
    pub(super) object: &'a Object,
    pub(super) now: Timestamp,
}

impl<'a> Row<'a> {
    pub(super) fn new(object: &'a Object) -> Self {
        Self { object, now: Timestamp::now() }
    }

    pub(super) fn name(&self) -> Value {
        json!(self.object.name())
    }

    /// Returns the name, marked if an annotation makes the object the default of its kind.
    pub(super) fn class_name(&self, annotation: &str) -> Value {
        let annotations = self.object.metadata.annotations.as_ref();
        let is_default =
            annotations.and_then(|annotations| annotations.get(annotation)).is_some_and(|text| text == "true");
        if is_default { json!(format!("{} (default)", self.object.name())) } else { self.name() }
    }

    /// Returns the name, the given cells and the age.
    pub(super) fn with_name_and_age(&self, between: Vec<Value>) -> Vec<Value> {
        let mut cells = vec![self.name()];
        cells.extend(between);
        cells.push(self.age());
        cells
    }

    /// Returns the age of the object.
    pub(super) fn age(&self) -> Value {
        json!(age(self.object.metadata.creation_timestamp.as_ref()))
    }

    /// Returns the creation timestamp.
    pub(super) fn created_at(&self) -> Value {
        json!(self.object.metadata.creation_timestamp)
    }

    pub(super) fn ago(&self, at: Timestamp) -> String {
        duration::ago(at, self.now)
    }

    /// Returns the duration since the time at a path, if there is one.
    pub(super) fn since(&self, path: &str) -> Option<String> {
        time(self.get(path)).map(|at| self.ago(at))
    }

    pub(super) fn is_terminating(&self) -> bool {
        self.object.is_terminating()
    }

    /// Returns the value at a path, or null.
    pub(super) fn get(&self, path: &str) -> &'a Value {
        self.object.field(path).unwrap_or(&Value::Null)
    }

    pub(super) fn text(&self, path: &str) -> &'a str {
        self.get(path).as_str().unwrap_or_default()
    }

    /// Returns the text at a path, or `none` if it is empty.
    pub(super) fn text_or(&self, path: &str, none: &'a str) -> &'a str {
        Some(self.text(path)).filter(|text| !text.is_empty()).unwrap_or(none)
    }

    pub(super) fn number(&self, path: &str) -> i64 {
        self.get(path).as_i64().unwrap_or_default()
    }

    pub(super) fn list(&self, path: &str) -> &'a [Value] {
        list(self.get(path))
    }

    /// Returns the number of entries of the list or map at a path.
    pub(super) fn count(&self, path: &str) -> usize {
        let value = self.get(path);
        value.as_object().map_or_else(|| list(value).len(), serde_json::Map::len)
    }

    /// Formats the label selector at a path.
    pub(super) fn selector(&self, path: &str) -> String {
        or_none(selector::to_text(self.get(path)))
    }

    /// Formats the labels at a path.
    pub(super) fn labels(&self, path: &str) -> String {
        let labels = self.get(path).as_object().into_iter().flatten();
        let labels: BTreeMap<_, _> = labels.map(|(name, value)| (name, text(value))).collect();
        or_none(join(labels.into_iter().map(|(name, value)| format!("{name}={value}"))))
    }

    /// Returns the names and the images of the containers at a path.
    pub(super) fn containers(&self, path: &str) -> [Value; 2] {
        let all = |field: &str| join(self.list(path).iter().map(|container| text(&container[field]).to_owned()));
        [json!(all("name")), json!(all("image"))]
    }
}

/// Returns the age of an object with this creation timestamp.
pub(super) fn age(created: Option<&Time>) -> String {
    created.map_or_else(|| UNKNOWN.to_owned(), |Time(at)| duration::ago(*at, Timestamp::now()))
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// Joins texts with commas.
pub(super) fn join(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(",")
}

pub(super) fn or_none(text: String) -> String {
    if text.is_empty() { NONE.to_owned() } else { text }
}

/// Returns the status of the condition of this type, or an empty string.
pub(super) fn condition<'a>(conditions: &'a [Value], type_: &str) -> &'a str {
    let found = conditions.iter().find(|condition| condition["type"] == type_);
    found.map(|condition| text(&condition["status"])).unwrap_or_default()
}

/// Returns the first `few` texts, and the number of further ones.
pub(super) fn first_few(all: &[String], few: usize, none: &str) -> String {
    match all.len().checked_sub(few).filter(|more| *more > 0) {
        Some(more) => format!("{} + {more} more...", all[..few].join(",")),
        None if all.is_empty() => none.to_owned(),
        None => all.join(","),
    }
}
