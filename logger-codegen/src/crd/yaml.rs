//! CRDs as text: keys sorted, whatever order the maps of this build keep.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::diagnostic::Diagnostics;

/// The document; `None`, with the reason noted, where YAML cannot hold it.
pub(super) fn write(value: &Value, item: &str, found: &mut Diagnostics) -> Option<String> {
    serde_saphyr::to_string(&sorted(value))
        .inspect_err(|error| found.push(item, format!("its CRD cannot be written as YAML: {error}")))
        .ok()
}

#[derive(Serialize)]
#[serde(untagged)]
enum Sorted<'a> {
    Object(BTreeMap<&'a str, Sorted<'a>>),
    Array(Vec<Sorted<'a>>),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Scalar(&'a Value),
}

fn sorted(value: &Value) -> Sorted<'_> {
    match value {
        Value::Object(object) => {
            Sorted::Object(object.iter().map(|(key, value)| (key.as_str(), sorted(value))).collect())
        }
        Value::Array(array) => Sorted::Array(array.iter().map(sorted).collect()),
        // By value: with serde_json's `arbitrary_precision`, which any crate can switch on, a number is a map to others.
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), _, _) => Sorted::Integer(number),
            (None, Some(number), _) => Sorted::Unsigned(number),
            (None, None, Some(number)) => Sorted::Float(number),
            (None, None, None) => Sorted::Scalar(value),
        },
        scalar => Sorted::Scalar(scalar),
    }
}
