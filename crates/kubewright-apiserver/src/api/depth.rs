//! The depth of JSON values.

use serde_json::{Map, Value};

/// The maximum depth of JSON and YAML: the recursion limit of `serde_json`. Values of this depth can be walked on any
/// stack; YAML needs a larger one to be decoded.
pub(crate) const MAX_DEPTH: usize = 127;

/// How much deeper metadata can be: managed fields are deeper than the fields that they describe.
const METADATA: usize = 8;

/// Returns the depth of the fields of an object, without what managed fields add.
pub(crate) fn of_fields(fields: &Map<String, Value>) -> usize {
    let added = |name: &str| if name == "metadata" { METADATA } else { 0 };
    let depths = fields.iter().map(|(name, value)| of_value(value).saturating_sub(added(name)));
    1 + depths.max().unwrap_or_default()
}

/// Returns the depth of an object as [`of_fields`] does, or of another value.
pub(crate) fn of_object(object: &Value) -> usize {
    object.as_object().map_or_else(|| of_value(object), of_fields)
}

/// Returns the depth of a value.
pub(crate) fn of_value(value: &Value) -> usize {
    let mut max = 0;
    let mut pending = vec![(value, 1)];
    while let Some((value, depth)) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => pending.extend(fields.values().map(|field| (field, depth + 1))),
            _ => continue,
        }
        max = max.max(depth);
    }
    max
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn managed_fields_do_not_make_an_object_deeper() {
        let nested = |depth: usize| (0..depth).fold(Value::Null, |value, _| json!({ "a": value }));
        assert_eq!(of_object(&json!({ "spec": nested(3), "metadata": nested(3 + METADATA) })), 4);
        assert_eq!(of_object(&json!({ "spec": nested(3), "metadata": nested(4 + METADATA) })), 5);
        assert_eq!(of_object(&json!([[1]])), 2);
    }

    #[test]
    fn the_maximum_depth_is_that_of_serde_json() {
        let decode = |depth: usize| serde_json::from_str::<Value>(&["[".repeat(depth), "]".repeat(depth)].concat());
        assert_eq!(decode(MAX_DEPTH).map(|value| of_value(&value)).unwrap(), MAX_DEPTH);
        assert!(decode(MAX_DEPTH + 1).is_err());
    }
}
