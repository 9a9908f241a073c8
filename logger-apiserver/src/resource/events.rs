//! Events: one storage for two groups.
//!
//! Guarantees:
//! - An object that is written through one group can be read through the other, with the same resource version and
//!   field owners.
//! - Field selectors use the field names of their group.
//!
//! Events are stored in the representation of the core group.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    api::object::{Object, Stored},
    resource::registry::Resource,
};

/// The names of fields that differ: in the core group and in `events.k8s.io`.
pub(crate) const NAMES: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

impl Resource {
    /// Converts a stored object to this kind.
    pub(crate) fn read_stored(&self, stored: &Stored) -> Stored {
        if !self.shares_storage() {
            return stored.clone();
        }
        let mut object = Object::clone(stored);
        rename(&mut object.body, |(core, new)| (core, new));
        for name in ["reportingController", "reportingInstance"] {
            if object.body.get(name).is_some_and(|text| text == "") {
                object.body.remove(name);
            }
        }
        self.default_built_in(&mut object.body);
        Arc::new(object)
    }

    /// Converts an object of this kind to the stored representation.
    pub(crate) fn to_storage(&self, object: &mut Object) {
        if self.shares_storage() {
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
