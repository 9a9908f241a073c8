//! The fields of an object that another version cannot express, as they are stored in an annotation: a tree of the same
//! shape as the object.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fingerprint::fingerprint;

/// A field, an item or an object, with what is stored of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Stored {
    /// The original, if the other version shows something else in its place, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) original: Option<Original>,
    /// The hash of what the other version shows in its place; `None` if it shows nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seen: Option<String>,
    /// What is stored of its fields, by their names in the version of the originals.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) fields: BTreeMap<String, Stored>,
    /// What is stored of its items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) items: Vec<Item>,
}

/// An original.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Original {
    /// It is absent.
    Absent,
    /// It has this value.
    Value(Value),
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    /// The position in the list.
    pub(super) index: usize,
    /// The length of the list.
    #[serde(rename = "of")]
    pub(super) length: usize,
    /// The hash of the keys of the item, or of the complete item, as the other version shows it.
    pub(super) id: String,
    /// What is stored of it.
    pub(super) stored: Stored,
}

impl Stored {
    /// Stores an original, with what the other version shows in its place.
    pub(super) fn store(&mut self, original: Original, shown: Option<&Value>) {
        self.original = Some(original);
        self.seen = shown.map(fingerprint);
    }

    /// Adds what is stored of a field, if anything.
    pub(super) fn add_field(&mut self, name: &str, stored: Stored) {
        if !stored.is_empty() {
            self.fields.insert(name.to_owned(), stored);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.original.is_none() && self.fields.is_empty() && self.items.is_empty()
    }

    pub(super) fn field(&self, name: &str) -> Option<&Stored> {
        self.fields.get(name)
    }

    /// Returns the original if the other version still shows what it showed: this value, or nothing.
    pub(super) fn restore(&self, shown: Option<&Value>) -> Option<&Original> {
        let original = self.original.as_ref()?;
        let is_unchanged = match (&self.seen, shown) {
            (Some(seen), Some(shown)) => *seen == fingerprint(shown),
            (None, None) => true,
            _ => false,
        };
        is_unchanged.then_some(original)
    }

    /// Returns the paths of all originals.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.add_paths("", &mut paths);
        paths
    }

    fn add_paths(&self, path: &str, paths: &mut Vec<String>) {
        if self.original.is_some() {
            paths.push(path.to_owned());
        }
        let separator = if path.is_empty() { "" } else { "." };
        self.fields.iter().for_each(|(name, stored)| stored.add_paths(&format!("{path}{separator}{name}"), paths));
        self.items.iter().for_each(|item| item.stored.add_paths(&format!("{path}[{}]", item.index), paths));
    }
}

impl Original {
    /// Returns the value; `None` if it is absent.
    pub(super) fn value(&self) -> Option<&Value> {
        match self {
            Original::Absent => None,
            Original::Value(value) => Some(value),
        }
    }
}

/// The identities of the items of a list, as the version shows them, and what is stored of the items.
pub(super) struct Identities<'a> {
    ids: Vec<String>,
    /// The identities of items that were not at their position when the others were stored.
    moved: HashSet<String>,
    /// What is stored of items that are not at their position, in reverse order.
    by_id: HashMap<&'a str, Vec<&'a Item>>,
    by_index: HashMap<usize, &'a Item>,
    has_keys: bool,
}

impl<'a> Identities<'a> {
    /// Identifies the items, if anything is stored of items.
    pub(super) fn new(items: &[Value], keys: &[&str], stored: Option<&'a Stored>) -> Self {
        let stored = stored.map(|stored| stored.items.as_slice()).unwrap_or_default();
        let ids: Vec<String> = match stored.is_empty() {
            true => Vec::new(),
            false => items.iter().map(|item| identity(item, keys)).collect(),
        };
        let by_index: HashMap<usize, &Item> = stored.iter().map(|item| (item.index, item)).collect();
        let is_at = |index: usize, id: &String| by_index.get(&index).is_some_and(|item| item.id == *id);
        let moved = ids.iter().enumerate().filter(|(index, id)| !is_at(*index, id)).map(|(_, id)| id.clone()).collect();
        let mut by_id: HashMap<&str, Vec<&Item>> = HashMap::new();
        for item in stored.iter().rev().filter(|item| ids.get(item.index) != Some(&item.id)) {
            by_id.entry(&item.id).or_default().push(item);
        }
        Identities { ids, moved, by_id, by_index, has_keys: !keys.is_empty() }
    }

    /// Returns what is stored of the item at this position: of the item with its identity, or in a list without keys
    /// and of the same length, of that at its position. Called once for each position, in order.
    pub(super) fn stored(&mut self, index: usize) -> Option<&'a Stored> {
        let id = self.ids.get(index)?;
        let at_index = self.by_index.get(&index).copied();
        if let Some(item) = at_index.filter(|item| item.id == *id) {
            return Some(&item.stored);
        }
        if let Some(item) = self.by_id.get_mut(id.as_str()).and_then(Vec::pop) {
            return Some(&item.stored);
        }
        let is_edited = |item: &&Item| item.length == self.ids.len() && !self.moved.contains(&item.id);
        at_index.filter(is_edited).filter(|_| !self.has_keys).map(|item| &item.stored)
    }
}

/// Returns the items of which something is stored, and those that look the same in the other version.
pub(super) fn distinguishable(items: Vec<Item>) -> Vec<Item> {
    let stored = items.iter().filter(|item| !item.stored.is_empty());
    let ids: HashSet<String> = stored.map(|item| item.id.clone()).collect();
    items.into_iter().filter(|item| ids.contains(&item.id)).collect()
}

/// Returns the identity of an item: the hash of its keys, or of the complete item.
pub(super) fn identity(item: &Value, keys: &[&str]) -> String {
    match keys {
        [] => fingerprint(item),
        keys => {
            let values = keys.iter().map(|key| item.get(key).cloned().unwrap_or_default());
            fingerprint(&Value::Array(values.collect()))
        }
    }
}
