//! Conversion of bounds and integer formats.

use kubewright_names::extension::Extension;
use serde_json::{Value, json};

use super::{Node, flattened::Flattened};

/// Converts exclusive bounds: JSON Schema has a number, a structural schema has a boolean and `minimum` or `maximum`.
pub(super) fn convert_exclusive_bounds(node: &mut Node) {
    for (exclusive, bound, is_minimum) in
        [("exclusiveMinimum", "minimum", true), ("exclusiveMaximum", "maximum", false)]
    {
        let Some(limit) = node.get(exclusive).filter(|limit| limit.is_number()).cloned() else { continue };
        node.remove(exclusive);
        merge_bound(node, bound, exclusive, (&limit, true), is_minimum);
    }
}

/// Keeps the stricter one of the bound of the node and another, which has a flag whether it is exclusive.
pub(super) fn merge_bound(
    node: &mut Node,
    bound: &str,
    exclusive: &str,
    (limit, is_exclusive): (&Value, bool),
    is_minimum: bool,
) {
    let current = node.get(bound).and_then(Value::as_f64);
    let (given, current_is_exclusive) = (limit.as_f64(), node.get(exclusive) == Some(&json!(true)));
    let is_stricter = match (current, given) {
        (Some(current), Some(given)) if current < given => is_minimum,
        (Some(current), Some(given)) if current > given => !is_minimum,
        (Some(_), Some(_)) => is_exclusive && !current_is_exclusive,
        (None, given) => given.is_some(),
        (Some(_), None) => false,
    };
    if is_stricter {
        node.insert(bound.to_owned(), limit.clone());
        node.remove(exclusive);
        if is_exclusive {
            node.insert(exclusive.to_owned(), json!(true));
        }
    }
}

/// Converts integer formats to `int32` or `int64`, which the server supports, with bounds.
pub(super) fn convert_format(node: &mut Node, flattened: &mut Flattened) {
    let (format, min, max) = match node.get("format").and_then(Value::as_str) {
        Some("int8") => ("int32", Some(i64::from(i8::MIN)), Some(i64::from(i8::MAX))),
        Some("int16") => ("int32", Some(i64::from(i16::MIN)), Some(i64::from(i16::MAX))),
        Some("uint8") => ("int32", Some(0), Some(i64::from(u8::MAX))),
        Some("uint16") => ("int32", Some(0), Some(i64::from(u16::MAX))),
        Some("uint32") => ("int64", Some(0), Some(i64::from(u32::MAX))),
        Some("uint64" | "uint") => ("int64", Some(0), None),
        Some("int") => ("int64", None, None),
        Some("int128" | "uint128") => {
            node.remove("format");
            return flattened
                .push_error("the API server has no 128-bit integers; use `i64`, or `String` for larger numbers");
        }
        _ => return,
    };
    if node.get("format") == Some(&json!("uint8")) {
        flattened.extensions.insert(Extension::Byte, json!(true));
    }
    node.insert("format".to_owned(), json!(format));
    if let Some(min) = min {
        merge_bound(node, "minimum", "exclusiveMinimum", (&json!(min), false), true);
    }
    if let Some(max) = max {
        merge_bound(node, "maximum", "exclusiveMaximum", (&json!(max), false), false);
    }
}
