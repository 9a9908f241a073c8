//! An object as the cells of its row look at it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

use super::duration;
use crate::{api::object::Object, resource::selector};

pub(super) const NONE: &str = "<none>";
pub(super) const UNKNOWN: &str = "<unknown>";
pub(super) const UNSET: &str = "<unset>";

/// An object, and the time it is looked at.
pub(super) struct Row<'a> {
    pub(super) object: &'a Object,
    pub(super) now: Timestamp,
}

impl<'a> Row<'a> {
    pub(super) fn of(object: &'a Object) -> Self {
        Self { object, now: Timestamp::now() }
    }

    pub(super) fn name(&self) -> Value {
        json!(self.object.name())
    }

    /// How long it has been there.
    pub(super) fn age(&self) -> Value {
        json!(age(self.object.metadata.creation_timestamp.as_ref()))
    }

    /// When it was made.
    pub(super) fn created_at(&self) -> Value {
        json!(self.object.metadata.creation_timestamp)
    }

    pub(super) fn ago(&self, at: Timestamp) -> String {
        duration::ago(at, self.now)
    }

    /// How long the time at a path is ago, if one is there.
    pub(super) fn since(&self, path: &str) -> Option<String> {
        time(self.get(path)).map(|at| self.ago(at))
    }

    pub(super) fn is_ending(&self) -> bool {
        self.object.is_terminating()
    }

    /// The value at a path; null, if there is none.
    pub(super) fn get(&self, path: &str) -> &'a Value {
        self.object.field(path).unwrap_or(&Value::Null)
    }

    pub(super) fn text(&self, path: &str) -> &'a str {
        self.get(path).as_str().unwrap_or_default()
    }

    /// The text at a path, or what stands for none.
    pub(super) fn text_or(&self, path: &str, none: &'a str) -> &'a str {
        Some(self.text(path)).filter(|text| !text.is_empty()).unwrap_or(none)
    }

    pub(super) fn number(&self, path: &str) -> i64 {
        self.get(path).as_i64().unwrap_or_default()
    }

    pub(super) fn list(&self, path: &str) -> &'a [Value] {
        list(self.get(path))
    }

    /// How many entries are at a path.
    pub(super) fn count(&self, path: &str) -> usize {
        let value = self.get(path);
        value.as_object().map_or_else(|| list(value).len(), serde_json::Map::len)
    }

    /// A label selector in text.
    pub(super) fn selector(&self, path: &str) -> String {
        or_none(selector::text_of(self.get(path)))
    }

    /// A map of labels in text.
    pub(super) fn labels(&self, path: &str) -> String {
        let labels = self.get(path).as_object().into_iter().flatten();
        let labels: BTreeMap<_, _> = labels.map(|(name, value)| (name, text(value))).collect();
        or_none(joined(labels.into_iter().map(|(name, value)| format!("{name}={value}"))))
    }

    /// The names and the images of the containers at a path.
    pub(super) fn containers(&self, path: &str) -> [Value; 2] {
        let all = |field: &str| joined(self.list(path).iter().map(|container| text(&container[field]).to_owned()));
        [json!(all("name")), json!(all("image"))]
    }
}

/// How long something has been there that was made at a time.
pub(super) fn age(made: Option<&Time>) -> String {
    made.map_or_else(|| UNKNOWN.to_owned(), |Time(at)| duration::ago(*at, Timestamp::now()))
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

/// With commas between.
pub(super) fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(",")
}

pub(super) fn or_none(text: String) -> String {
    if text.is_empty() { NONE.to_owned() } else { text }
}

/// The status of a condition of this type, or nothing.
pub(super) fn condition<'a>(conditions: &'a [Value], type_: &str) -> &'a str {
    let found = conditions.iter().find(|condition| condition["type"] == type_);
    found.map(|condition| text(&condition["status"])).unwrap_or_default()
}

/// The first few, and how many more there are.
pub(super) fn first_few(all: &[String], few: usize, none: &str) -> String {
    match all.len().checked_sub(few).filter(|more| *more > 0) {
        Some(more) => format!("{} + {more} more...", all[..few].join(",")),
        None if all.is_empty() => none.to_owned(),
        None => all.join(","),
    }
}
