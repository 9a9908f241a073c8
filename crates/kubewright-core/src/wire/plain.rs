//! JSON values for serializers of other formats: sorted keys and plain numbers, regardless of `serde_json`'s features.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A JSON value for the serializer of another format.
///
/// With `serde_json`'s feature `arbitrary_precision`, which any crate can enable, a number is a map to other formats;
/// with its feature `preserve_order` keys are not sorted.
pub struct Plain<'a>(pub &'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(object) => {
                let sorted: BTreeMap<_, _> = object.iter().map(|(key, value)| (key, Plain(value))).collect();
                serializer.collect_map(sorted)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Plain)),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(number), _, _) => serializer.serialize_i64(number),
                (None, Some(number), _) => serializer.serialize_u64(number),
                (None, None, Some(number)) => serializer.serialize_f64(number),
                (None, None, None) => number.serialize(serializer),
            },
            scalar => scalar.serialize(serializer),
        }
    }
}
