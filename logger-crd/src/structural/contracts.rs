//! One schema of those a type may have: what it reads, what it writes, and what is said of a field whose type has a name.

use std::collections::BTreeSet;

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

/// Facts that schemars says of a field only if the type of the field is written out: it knows then what the type is. A length
/// on a field of a newtype, say. `inlined` is the same schema from a generator that inlines.
#[must_use]
pub fn with_field_facts(mut referring: Value, inlined: &Value) -> Value {
    let definitions = referring.get("$defs").cloned().unwrap_or_default();
    let mut found = Found { definitions, ..Found::default() };
    found.walk(&mut referring, inlined, 0);
    while let Some((name, inlined)) = found.next.pop() {
        if let Some(definition) = referring.get_mut("$defs").and_then(|all| all.get_mut(&name)) {
            found.walk(definition, &inlined, 0);
        }
    }
    referring
}

/// Keywords that schemars sets on a field.
const FACTS: &[&str] = &[
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
];

#[derive(Default)]
struct Found {
    definitions: Value,
    seen: BTreeSet<String>,
    /// Definitions that were referred to, as they look inlined.
    next: Vec<(String, Value)>,
}

impl Found {
    fn walk(&mut self, referring: &mut Value, inlined: &Value, level: usize) {
        let (Value::Object(node), true) = (referring, level < super::DEEPEST) else { return };
        if let Some(name) = name_of(node) {
            self.facts(node, &name, inlined);
            return;
        }
        if let (Some(Value::Object(own)), Some(inlined)) = (node.get_mut("properties"), inlined.get("properties")) {
            own.iter_mut().for_each(|(name, own)| self.walk(own, inlined.get(name).unwrap_or(&Value::Null), level + 1));
        }
        for key in ["items", "additionalProperties"] {
            if let (Some(own), Some(inlined)) = (node.get_mut(key), inlined.get(key)) {
                self.walk(own, inlined, level + 1);
            }
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            if let (Some(Value::Array(own)), Some(Value::Array(inlined))) = (node.get_mut(key), inlined.get(key))
                && own.len() == inlined.len()
            {
                own.iter_mut().zip(inlined).for_each(|(own, inlined)| self.walk(own, inlined, level + 1));
            }
        }
    }

    /// What the inlined type says that its definition does not.
    fn facts(&mut self, node: &mut Map<String, Value>, name: &str, inlined: &Value) {
        let definition = self.definition(name);
        for key in FACTS {
            if let Some(fact) = inlined.get(*key).filter(|fact| definition.get(*key) != Some(*fact)) {
                node.entry(*key).or_insert_with(|| fact.clone());
            }
        }
        if !name.starts_with("io.k8s.") && self.seen.insert(name.to_owned()) {
            self.next.push((name.to_owned(), inlined.clone()));
        }
    }

    /// A definition, with those it is but another name of.
    fn definition(&self, name: &str) -> Value {
        let mut name = name.to_owned();
        for _ in 0..super::DEEPEST {
            let Some(Value::Object(definition)) = self.definitions.get(&name) else { break };
            match name_of(definition) {
                Some(next) => name = next,
                None => return Value::Object(definition.clone()),
            }
        }
        Value::Null
    }
}

/// The definition that a node refers to, or that it is an `Option` of.
fn name_of(node: &Map<String, Value>) -> Option<String> {
    let option = || match node.get("anyOf")?.as_array()?.as_slice() {
        [some, null] if super::gather::is_null(null) => some.get("$ref"),
        _ => None,
    };
    let reference = node.get("$ref").or_else(option)?.as_str()?;
    Some(reference.strip_prefix("#/$defs/")?.to_owned())
}
