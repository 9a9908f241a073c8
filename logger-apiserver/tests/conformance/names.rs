//! Stable names for what no two servers have in common: versions, uids, times, generated names
//!
//! They are given in order of appearance, so that what was equal, or newer, still is. What many writers move, the version of a list or
//! a bookmark, is named after the newest version of an object that it includes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use regex::{Captures, Regex};
use serde_json::{Map, Value};

static TIME: LazyLock<Regex> = LazyLock::new(|| regex(r"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"));
static UID: LazyLock<Regex> = LazyLock::new(|| regex(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
static VERSIONS: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(resource version: \d+|resourceVersion[\\"]*: ?[\\"]*\d+|current: \d+|\(\d+\)|ResourceVersion: \d+)"#)
});

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is written here")
}

/// What was named so far.
pub(crate) struct Names {
    namespace: String,
    versions: BTreeMap<u64, String>,
    uids: Vec<String>,
    generated: BTreeSet<(String, String)>,
}

impl Names {
    pub(crate) fn of(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            versions: BTreeMap::new(),
            uids: Vec::new(),
            generated: BTreeSet::new(),
        }
    }

    /// Gives names to all of an answer, and leaves out who owns which field unless that counts.
    pub(crate) fn name(&mut self, value: &mut Value, managed: bool) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.name(item, managed)),
            Value::Object(fields) => self.fields(fields, managed),
            Value::String(text) => *text = self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, managed: bool) {
        if !managed {
            fields.remove("managedFields");
        }
        // A fingerprint of how the server stores a kind.
        fields.remove("storageVersionHash");
        self.note_generated(fields);
        sort_causes(fields);
        sort_managers(fields);
        self.keys(fields);
        let is_list = fields.contains_key("items") || fields.get("type").is_some_and(|type_| type_ == "BOOKMARK");
        // In the order of their names, however they came: items before the metadata of their list.
        let mut order: Vec<String> = fields.keys().cloned().collect();
        order.sort();
        for name in order {
            let Some(value) = fields.get_mut(&name) else { continue };
            if is_list && name == "metadata" {
                self.list_metadata(value);
            } else if is_list && name == "object" {
                value.get_mut("metadata").into_iter().for_each(|metadata| self.list_metadata(metadata));
            }
            self.field(&name, value, managed);
        }
    }

    /// The keys of owned items tell what they are of, uids among it.
    fn keys(&mut self, fields: &mut Map<String, Value>) {
        let keys: Vec<String> = fields.keys().filter(|key| UID.is_match(key)).cloned().collect();
        for key in keys {
            if let Some(value) = fields.remove(&key) {
                fields.insert(self.text(&key), value);
            }
        }
    }

    fn field(&mut self, name: &str, value: &mut Value, managed: bool) {
        match (name, value) {
            ("resourceVersion", Value::String(version)) => *version = self.version(version),
            ("uid", Value::String(uid)) => *uid = self.uid(uid),
            ("continue", value) => self.continued(value),
            (_, value) => self.name(value, managed),
        }
    }

    fn list_metadata(&self, metadata: &mut Value) {
        if let Some(Value::String(version)) = metadata.get_mut("resourceVersion") {
            *version = self.newest_in(version);
        }
    }

    /// The name of an object's version.
    fn version(&mut self, version: &str) -> String {
        let Ok(number) = version.parse::<u64>() else {
            return version.to_owned();
        };
        let next = format!("v{}", self.versions.len() + 1);
        self.versions.entry(number).or_insert(next).clone()
    }

    fn newest_in(&self, version: &str) -> String {
        let newest = version.parse::<u64>().ok().and_then(|number| self.versions.range(..=number).next_back());
        newest.map_or_else(|| "with nothing known".to_owned(), |(_, name)| format!("with {name}"))
    }

    fn uid(&mut self, uid: &str) -> String {
        if !UID.is_match(uid) {
            return uid.to_owned();
        }
        let known = self.uids.iter().position(|known| known == uid).unwrap_or_else(|| {
            self.uids.push(uid.to_owned());
            self.uids.len() - 1
        });
        format!("uid{}", known + 1)
    }

    /// A continue token is shown as what it says.
    fn continued(&self, token: &mut Value) {
        let decoded = token
            .as_str()
            .filter(|token| !token.is_empty())
            .and_then(|token| BASE64_URL_SAFE_NO_PAD.decode(token).ok());
        let Some(mut said) = decoded.and_then(|json| serde_json::from_slice::<Value>(&json).ok()) else { return };
        if let Some(version) = said.get("rv").and_then(Value::as_u64) {
            said["rv"] = self.newest_in(&version.to_string()).into();
        }
        *token = said;
    }

    fn note_generated(&mut self, fields: &Map<String, Value>) {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        if let (Some(prefix), Some(name)) = (text("generateName"), text("name"))
            && name.len() == prefix.len() + 5
            && name.starts_with(prefix)
        {
            self.generated.insert((name.to_owned(), format!("{prefix}XXXXX")));
        }
    }

    /// A text without what is of this run alone.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let text = text.replace(&self.namespace, "NS");
        let time = |time: &Captures<'_>| if time.get(1).is_some() { "TIME.MICROS" } else { "TIME" };
        let text = TIME.replace_all(&text, time);
        let text = self.generated.iter().fold(text.into_owned(), |text, (name, stable)| text.replace(name, stable));
        let text = UID.replace_all(&text, |uid: &Captures<'_>| self.uid(&uid[0])).into_owned();
        VERSIONS.replace_all(&text, |found: &Captures<'_>| self.version_in(&found[0])).into_owned()
    }

    /// A version in a message: one that is known, or a number that would differ each time.
    fn version_in(&self, found: &str) -> String {
        let digits: String = found.chars().filter(char::is_ascii_digit).collect();
        if found.starts_with("current") {
            return "current: N".to_owned();
        }
        let known = digits.parse::<u64>().ok().and_then(|number| self.versions.get(&number));
        // Small and large numbers were written in a check, the rest came from the server.
        let stable = known
            .cloned()
            .unwrap_or_else(|| if digits.len() > 5 || digits == "0" { digits.clone() } else { "N".to_owned() });
        found.replace(&digits, &stable)
    }
}

/// Managers of one operation are in the order of the times when they wrote, and no two clocks tick together.
fn sort_managers(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(managers)) = fields.get_mut("managedFields") {
        managers.sort_by_key(|entry| {
            ["operation", "manager", "apiVersion", "subresource"].map(|name| entry[name].to_string())
        });
    }
}

/// The real server tells several causes in any order, some of them in the message too.
fn sort_causes(status: &mut Map<String, Value>) {
    let told = |causes: &[Value]| {
        let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
        let told: Vec<String> =
            causes.iter().map(|cause| format!("{}: {}", text(cause, "field"), text(cause, "message"))).collect();
        told.join(", ")
    };
    let Some(causes) = status.get_mut("details").and_then(|details| details.get_mut("causes")) else { return };
    let Value::Array(causes) = causes else { return };
    let before = told(causes);
    causes.sort_by_key(Value::to_string);
    let after = told(causes);
    if let Some(Value::String(message)) = status.get_mut("message") {
        *message = message.replace(&before, &after);
    }
}

/// The value at a place: names and indexes between dots; `items[name=a]` is the item that has that, and `"a.b"` a name with a dot.
pub(crate) fn at<'a>(value: &'a Value, place: &str) -> Option<&'a Value> {
    let mut is_quoted = false;
    let parts = place.split(|c| {
        is_quoted ^= c == '"';
        c == '.' && !is_quoted
    });
    let mut parts = parts.map(|part| part.trim_matches('"'));
    parts.try_fold(value, |value, part| {
        let (name, choice) = part.split_once('[').map_or((part, None), |(name, choice)| (name, Some(choice)));
        let value = match (name, value) {
            ("", value) => Some(value),
            (index, Value::Array(items)) => index.parse().ok().and_then(|index: usize| items.get(index)),
            (name, value) => value.get(name),
        }?;
        let Some((field, wanted)) = choice.and_then(|choice| choice.trim_end_matches(']').split_once('=')) else {
            return Some(value);
        };
        value.as_array()?.iter().find(|item| item.get(field).is_some_and(|found| found == wanted))
    })
}
