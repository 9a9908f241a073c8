//! One schema of the two that a type may have: what it reads and what it writes.

use serde_json::{Map, Value};

/// What is read, and beside it every field that is only written, such as one with `#[serde(skip_deserializing)]`: without
/// it the server would prune what the client sends. Such a field is never required.
#[must_use]
pub fn both_contracts(mut read: Value, written: &Value) -> Value {
    add(&mut read, written, 0);
    read
}

fn add(read: &mut Value, written: &Value, level: usize) {
    let (Value::Object(read), Value::Object(written), true) = (read, written, level < super::DEEPEST) else { return };
    for key in ["$defs", "properties"] {
        if let Some(Value::Object(more)) = written.get(key) {
            let own = read.entry(key).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(own) = own else { continue };
            for (name, schema) in more {
                match own.get_mut(name) {
                    Some(own) => add(own, schema, level + 1),
                    None => drop(own.insert(name.clone(), schema.clone())),
                }
            }
        }
    }
    for key in ["items", "additionalProperties"] {
        if let (Some(own), Some(more)) = (read.get_mut(key), written.get(key)) {
            add(own, more, level + 1);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        if let (Some(Value::Array(own)), Some(Value::Array(more))) = (read.get_mut(key), written.get(key))
            && own.len() == more.len()
        {
            own.iter_mut().zip(more).for_each(|(own, more)| add(own, more, level + 1));
        }
    }
}
