//! Events: one storage, seen through two groups.
//!
//! It promises:
//! - What is written through one group is there through the other, under the same version and with the same owners of fields.
//! - Both groups select by their own names of the fields.
//!
//! They are kept as those of the core group.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    api::object::{Object, Stored},
    resource::registry::Resource,
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

impl Resource {
    /// An object of the store as one of this kind.
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
        self.default(&mut object.body);
        Arc::new(object)
    }

    /// Makes an object of this kind what the store keeps of it.
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
