//! Bounds and widths of numbers, as the server has them.

use serde_json::{Value, json};

use super::Node;
use super::gather::Said;

/// JSON Schema has a strict bound in `exclusiveMinimum`; the server has a flag beside `minimum`.
pub(super) fn bounds(node: &mut Node) {
    for (exclusive, bound, least) in [("exclusiveMinimum", "minimum", true), ("exclusiveMaximum", "maximum", false)] {
        let Some(limit) = node.get(exclusive).filter(|limit| limit.is_number()).cloned() else { continue };
        node.remove(exclusive);
        meet_bound(node, bound, exclusive, (&limit, true), least);
    }
}

/// The stricter of a bound that is there and another. `true` if it is strict, that is, not itself allowed.
pub(super) fn meet_bound(node: &mut Node, bound: &str, exclusive: &str, (limit, strict): (&Value, bool), least: bool) {
    let own = node.get(bound).and_then(Value::as_f64);
    let (given, own_is_strict) = (limit.as_f64(), node.get(exclusive) == Some(&json!(true)));
    let stricter = match (own, given) {
        (Some(own), Some(given)) if own < given => least,
        (Some(own), Some(given)) if own > given => !least,
        (Some(_), Some(_)) => strict && !own_is_strict,
        (None, given) => given.is_some(),
        (Some(_), None) => false,
    };
    if stricter {
        node.insert(bound.to_owned(), limit.clone());
        node.remove(exclusive);
        if strict {
            node.insert(exclusive.to_owned(), json!(true));
        }
    }
}

/// The server knows the formats int32 and int64; other widths become bounds.
pub(super) fn width(node: &mut Node, said: &mut Said) {
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
            return said.problem("the API server has no 128-bit integers; use `i64`, or `String` for larger numbers");
        }
        _ => return,
    };
    if node.get("format") == Some(&json!("uint8")) {
        said.marks.insert(BYTE.to_owned(), json!(true));
    }
    node.insert("format".to_owned(), json!(format));
    if let Some(min) = min {
        meet_bound(node, "minimum", "exclusiveMinimum", (&json!(min), false), true);
    }
    if let Some(max) = max {
        meet_bound(node, "maximum", "exclusiveMaximum", (&json!(max), false), false);
    }
}

/// The mark of a `u8`: a list of them is a `Vec<u8>`, which is base64 to everybody else.
pub(super) const BYTE: &str = "x-logger-byte";
