//! Replaces values that differ between servers with stable names: versions, uids, times, generated names.
//!
//! Names are numbered in order of appearance, so that equality and order of versions are preserved. The versions of
//! lists and bookmarks, which every writer advances, are named after the newest version of an object that they include.

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
    Regex::new(pattern).expect("the pattern is a constant")
}

/// Normalizes values, with the names assigned so far.
pub(crate) struct Normalizer {
    namespace: String,
    versions: BTreeMap<u64, String>,
    uids: Vec<String>,
    generated: BTreeSet<(String, String)>,
}

impl Normalizer {
    pub(crate) fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            versions: BTreeMap::new(),
            uids: Vec::new(),
            generated: BTreeSet::new(),
        }
    }

    /// Normalizes an answer, and removes the managed fields unless `managed`.
    pub(crate) fn normalize(&mut self, value: &mut Value, managed: bool) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.normalize(item, managed)),
            Value::Object(fields) => self.fields(fields, managed),
            Value::String(text) => *text = self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, managed: bool) {
        if !managed {
            fields.remove("managedFields");
        }
        // A hash of the server's storage encoding of a kind.
        fields.remove("storageVersionHash");
        self.note_generated(fields);
        sort_causes(fields);
        sort_managers(fields);
        self.keys(fields);
        let is_list = fields.contains_key("items") || fields.get("type").is_some_and(|type_| type_ == "BOOKMARK");
        // Sorted by name: items are visited before the metadata of their list.
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

    /// Normalizes keys that contain uids, such as those of managed list items.
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
            ("continue", value) => self.continue_token(value),
            (_, value) => self.normalize(value, managed),
        }
    }

    fn list_metadata(&self, metadata: &mut Value) {
        if let Some(Value::String(version)) = metadata.get_mut("resourceVersion") {
            *version = self.newest_in(version);
        }
    }

    /// Returns the name of an object's version.
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

    /// Replaces a continue token with its decoded contents.
    fn continue_token(&self, token: &mut Value) {
        let decoded = token
            .as_str()
            .filter(|token| !token.is_empty())
            .and_then(|token| BASE64_URL_SAFE_NO_PAD.decode(token).ok());
        let Some(mut contents) = decoded.and_then(|json| serde_json::from_slice::<Value>(&json).ok()) else { return };
        if let Some(version) = contents.get("rv").and_then(Value::as_u64) {
            contents["rv"] = self.newest_in(&version.to_string()).into();
        }
        *token = contents;
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

    /// Normalizes a text.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let text = text.replace(&self.namespace, "NS");
        let time = |time: &Captures<'_>| if time.get(1).is_some() { "TIME.MICROS" } else { "TIME" };
        let text = TIME.replace_all(&text, time);
        let text = self.generated.iter().fold(text.into_owned(), |text, (name, stable)| text.replace(name, stable));
        let text = UID.replace_all(&text, |uid: &Captures<'_>| self.uid(&uid[0])).into_owned();
        VERSIONS.replace_all(&text, |found: &Captures<'_>| self.version_in(&found[0])).into_owned()
    }

    /// Normalizes a version in a message: one that has a name, or a number that differs between runs.
    fn version_in(&self, found: &str) -> String {
        let digits: String = found.chars().filter(char::is_ascii_digit).collect();
        if found.starts_with("current") {
            return "current: N".to_owned();
        }
        let known = digits.parse::<u64>().ok().and_then(|number| self.versions.get(&number));
        // Zero and large numbers come from the check, all others from the server.
        let stable = known
            .cloned()
            .unwrap_or_else(|| if digits.len() > 5 || digits == "0" { digits.clone() } else { "N".to_owned() });
        found.replace(&digits, &stable)
    }
}

/// Sorts managed fields entries, which the server sorts by time within an operation.
fn sort_managers(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(managers)) = fields.get_mut("managedFields") {
        managers.sort_by_key(|entry| {
            ["operation", "manager", "apiVersion", "subresource"].map(|name| entry[name].to_string())
        });
    }
}

/// Sorts the causes of a status, which the real server reports in any order, also in the message.
fn sort_causes(status: &mut Map<String, Value>) {
    let text_of = |causes: &[Value]| {
        let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
        let texts: Vec<String> =
            causes.iter().map(|cause| format!("{}: {}", text(cause, "field"), text(cause, "message"))).collect();
        texts.join(", ")
    };
    let Some(causes) = status.get_mut("details").and_then(|details| details.get_mut("causes")) else { return };
    let Value::Array(causes) = causes else { return };
    let before = text_of(causes);
    causes.sort_by_key(Value::to_string);
    let after = text_of(causes);
    if let Some(Value::String(message)) = status.get_mut("message") {
        *message = message.replace(&before, &after);
    }
}

/// Returns the value at a path of names and indexes separated by dots. `items[name=a]` selects the item with that
/// field, and `"a.b"` is a name with a dot.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut is_quoted = false;
    let parts = path.split(|c| {
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
