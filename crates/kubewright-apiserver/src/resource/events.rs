//! Events: one storage for two groups.
//!
//! Guarantees:
//! - An object that is written through one group can be read through the other, with the same resource version and
//!   field owners.
//! - Field selectors use the field names of their group.
//!
//! Events are stored in the representation of the core group.

use serde_json::{Map, Value};

use crate::{api::object::Object, resource::stored_representation::Conversion};

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

/// The conversion of `events.k8s.io`.
pub(crate) static CONVERSION: Conversion = Conversion { from_storage, to_storage };

fn from_storage(event: &mut Object) {
    rename(&mut event.body, |(core, new)| (core, new));
    for name in ["reportingController", "reportingInstance"] {
        if event.body.get(name).is_some_and(|text| text == "") {
            event.body.remove(name);
        }
    }
}

fn to_storage(event: &mut Object) {
    rename(&mut event.body, |(core, new)| (new, core));
    for name in ["reportingComponent", "reportingInstance"] {
        event.body.entry(name).or_insert_with(|| Value::from(""));
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
