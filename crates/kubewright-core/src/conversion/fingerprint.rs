//! Hashes of JSON values, which identify what a version shows. They are persisted, so they never change.

use std::collections::BTreeMap;

use serde_json::Value;

/// Returns the FNV-1a hash of the value in 16 hexadecimal digits. The order of keys and the notation of numbers are
/// irrelevant.
pub(super) fn fingerprint(value: &Value) -> String {
    let mut hash = Fnv1a(0xcbf2_9ce4_8422_2325);
    hash.value(value);
    format!("{:016x}", hash.0)
}

struct Fnv1a(u64);

impl Fnv1a {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a string with its length, so that two adjacent strings differ from one.
    fn text(&mut self, text: &str) {
        self.bytes(text.len().to_string().as_bytes());
        self.bytes(b"\"");
        self.bytes(text.as_bytes());
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes(b"n"),
            Value::Bool(true) => self.bytes(b"t"),
            Value::Bool(false) => self.bytes(b"f"),
            Value::Number(number) => self.bytes(normalized(number).as_bytes()),
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                self.bytes(b"[");
                items.iter().for_each(|item| self.value(item));
                self.bytes(b"]");
            }
            Value::Object(fields) => {
                self.bytes(b"{");
                // With serde_json's feature `preserve_order`, which any crate can enable, keys are not sorted.
                for (name, value) in fields.iter().collect::<BTreeMap<_, _>>() {
                    self.text(name);
                    self.value(value);
                }
                self.bytes(b"}");
            }
        }
    }
}

/// Returns the digits of a number. The API server writes floats without a fraction as integers.
fn normalized(number: &serde_json::Number) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if !number.is_i64() && !number.is_u64() && float.fract() == 0.0 && float.abs() < EXACT => {
            format!("#{float:.0};")
        }
        _ => format!("#{number};"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_and_notation_are_irrelevant() {
        assert_eq!(fingerprint(&json!({"a": 1, "b": [2]})), fingerprint(&json!({"b": [2.0], "a": 1.0})));
        assert_eq!(fingerprint(&json!("a")).len(), 16);
    }

    #[test]
    fn different_values_differ() {
        let values = [
            json!(null),
            json!(0),
            json!(0.5),
            json!("0"),
            json!([]),
            json!({}),
            json!(["a", "b"]),
            json!(["ab"]),
            json!([["a"], "b"]),
            json!({"a": "b"}),
            json!(true),
        ];
        for (i, value) in values.iter().enumerate() {
            for other in &values[i + 1..] {
                assert_ne!(fingerprint(value), fingerprint(other), "{value} and {other}");
            }
        }
    }

    #[test]
    fn persisted_hashes_do_not_change() {
        assert_eq!(fingerprint(&json!("30s")), "a0bf5541546b41d8");
    }
}
