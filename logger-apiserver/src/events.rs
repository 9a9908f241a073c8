//! Events: one storage, seen through two groups
//!
//! It promises:
//! - What is written through one group is there through the other, under the same version and with the same owners of fields.
//! - Both groups select by their own names of the fields.
//!
//! They are kept as those of the core group.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    kinds::Kind,
    object::{Object, Stored},
};

/// What the fields are called: in the core group, in `events.k8s.io`.
pub(crate) const NAMES: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

impl Kind {
    /// Whether its objects are kept as those of another kind.
    fn is_kept_otherwise(&self) -> bool {
        self.is_event() && !self.group.is_empty()
    }

    /// The group whose rules its objects obey, and which a refusal names.
    pub(crate) fn group_of_rules(&self) -> &str {
        if self.is_kept_otherwise() { "" } else { &self.group }
    }

    /// Where its objects are in the store.
    pub(crate) fn place(&self) -> String {
        if self.is_kept_otherwise() { self.plural.clone() } else { self.resource() }
    }

    /// An object of the store as one of this kind.
    pub(crate) fn seen(&self, stored: &Stored) -> Stored {
        if !self.is_kept_otherwise() {
            return stored.clone();
        }
        let mut object = Object::clone(stored);
        rename(&mut object.body, |(core, new)| (core, new));
        for name in ["reportingController", "reportingInstance"] {
            if object.body.get(name).is_some_and(|text| text == "") {
                object.body.remove(name);
            }
        }
        self.default(&mut object.body);
        Arc::new(object)
    }

    /// Makes an object of this kind what the store keeps of it.
    pub(crate) fn keep(&self, object: &mut Object) {
        if self.is_kept_otherwise() {
            rename(&mut object.body, |(core, new)| (new, core));
            for name in ["reportingComponent", "reportingInstance"] {
                object.body.entry(name).or_insert_with(|| Value::from(""));
            }
        }
    }
}

fn rename(
    fields: &mut Map<String, Value>,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    for (from, to) in NAMES.map(direction) {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}
