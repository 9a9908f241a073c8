//! JSON values, copied in place where two agree in shape.

use serde_json::{Map, Value};

use super::{DeepCopy, copied_in_pairs};

clone_is_deep!(serde_json::Number);

impl DeepCopy for Value {
    new_by_clone!();

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
    new_by_clone!();

    /// Pair by pair while the keys agree. A map with other keys is replaced, not merged: with serde_json's `preserve_order`
    /// the order of its keys is part of it.
    fn deep_copy_into(&self, target: &mut Self) {
        let agrees = self.len() == target.len() && copied_in_pairs(self.iter(), target.iter_mut());
        if !agrees {
            *target = self.clone();
        }
    }
}
