//! JSON values, which are copied in place if their structures match.

use serde_json::{Map, Value};

use super::{DeepCopy, copy_pairwise};

clone_is_deep!(serde_json::Number);

impl DeepCopy for Value {
    deep_copy_by_clone!();

    fn deep_copy_into(&self, target: &mut Self) {
        match (self, target) {
            (Value::String(from), Value::String(to)) => from.deep_copy_into(to),
            (Value::Array(from), Value::Array(to)) => from.deep_copy_into(to),
            (Value::Object(from), Value::Object(to)) => from.deep_copy_into(to),
            (from, to) => *to = from.clone(),
        }
    }
}

impl DeepCopy for Map<String, Value> {
    deep_copy_by_clone!();

    /// Copies pairwise if all keys are equal. A map with different keys is replaced, because with `serde_json`'s
    /// `preserve_order` the order of the keys is significant.
    fn deep_copy_into(&self, target: &mut Self) {
        let is_copied = self.len() == target.len() && copy_pairwise(self.iter(), target.iter_mut());
        if !is_copied {
            *target = self.clone();
        }
    }
}
