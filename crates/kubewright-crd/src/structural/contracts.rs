//! Merges the schemas of a type: of deserialization, of serialization, and of fields whose type is a definition.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Adds the fields that are only serialized to the schema of deserialization, such as one with
/// `#[serde(skip_deserializing)]`. Without it the server would prune what the client sends. Such a field is never
/// required.
pub fn merge_contracts(mut deserialized: Value, serialized: &Value) -> Value {
    add(&mut deserialized, serialized, 0);
    deserialized
}

fn add(deserialized: &mut Value, serialized: &Value, level: usize) {
    // `CrdSchema` adds rules in an `allOf`, which one contract may lack: they depend on the required fields.
    if level < super::MAX_DEPTH && deserialized.get("allOf").is_some() != serialized.get("allOf").is_some() {
        if let Some(deserialized) = deserialized.get_mut("allOf").and_then(|all| all.get_mut(0)) {
            return add(deserialized, serialized, level + 1);
        }
        if let Some(serialized) = serialized.get("allOf").and_then(|all| all.get(0)) {
            return add(deserialized, serialized, level + 1);
        }
    }
    let (Value::Object(deserialized), Value::Object(serialized), true) =
        (deserialized, serialized, level < super::MAX_DEPTH)
    else {
        return;
    };
    // The other contract is that of another type, such as with `try_from` and without `into`.
    if !share_type(deserialized.get("type"), serialized.get("type")) {
        return;
    }
    for key in ["$defs", "properties"] {
        if let Some(Value::Object(serialized)) = serialized.get(key) {
            let deserialized = deserialized.entry(key).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(deserialized) = deserialized else { continue };
            for (name, schema) in serialized {
                match deserialized.get_mut(name) {
                    Some(deserialized) => add(deserialized, schema, level + 1),
                    None => drop(deserialized.insert(name.clone(), schema.clone())),
                }
            }
        }
    }
    for key in ["items", "additionalProperties"] {
        if let (Some(deserialized), Some(serialized)) = (deserialized.get_mut(key), serialized.get(key)) {
            add(deserialized, serialized, level + 1);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        if let (Some(Value::Array(deserialized)), Some(Value::Array(serialized))) =
            (deserialized.get_mut(key), serialized.get(key))
            && deserialized.len() == serialized.len()
        {
            deserialized
                .iter_mut()
                .zip(serialized)
                .for_each(|(deserialized, serialized)| add(deserialized, serialized, level + 1));
        }
    }
}

/// Whether two values of `type` have a type other than null in common. A schema without one has any type.
fn share_type(left: Option<&Value>, right: Option<&Value>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return true };
    let names = |types: &Value| match types {
        Value::Array(all) => all.clone(),
        name => vec![name.clone()],
    };
    let right_names = names(right);
    names(left).iter().any(|name| name != "null" && right_names.contains(name))
}

/// Adds the constraints that schemars generates for a field only if its type is inlined, because only then it has the
/// type: for example the length of a field with a newtype. `inlined` is the same schema from a generator that inlines.
pub fn with_field_constraints(mut referring: Value, inlined: &Value) -> Value {
    let definitions = referring.get("$defs").and_then(Value::as_object).into_iter().flatten();
    let definitions = definitions.map(|(name, definition)| (name.clone(), Definition::new(definition))).collect();
    let mut merger = ConstraintMerger { definitions, ..ConstraintMerger::default() };
    merger.walk(&mut referring, inlined, 0);
    while let Some((name, inlined)) = merger.pending.pop() {
        if let Some(definition) = referring.get_mut("$defs").and_then(|all| all.get_mut(&name)) {
            merger.walk(definition, &inlined, 0);
        }
    }
    referring
}

/// The constraints that schemars sets on a field.
const CONSTRAINTS: &[&str] = &[
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

/// What the merger reads of a definition.
enum Definition {
    /// It refers to another definition.
    Alias(String),
    Constraints(Map<String, Value>),
}

impl Definition {
    fn new(definition: &Value) -> Self {
        let Value::Object(node) = definition else { return Definition::Constraints(Map::new()) };
        let constraints = || CONSTRAINTS.iter().filter_map(|key| Some(((*key).to_owned(), node.get(*key)?.clone())));
        reference_name(node).map_or_else(|| Definition::Constraints(constraints().collect()), Definition::Alias)
    }
}

#[derive(Default)]
struct ConstraintMerger {
    definitions: BTreeMap<String, Definition>,
    seen: BTreeSet<String>,
    /// The definitions to merge next, with their inlined schema.
    pending: Vec<(String, Value)>,
}

impl ConstraintMerger {
    fn walk(&mut self, referring: &mut Value, inlined: &Value, level: usize) {
        let (Value::Object(node), true) = (referring, level < super::MAX_DEPTH) else { return };
        if let Some(name) = reference_name(node) {
            self.add_constraints(node, &name, inlined);
            return;
        }
        if let (Some(Value::Object(referring)), Some(inlined)) = (node.get_mut("properties"), inlined.get("properties"))
        {
            referring.iter_mut().for_each(|(name, referring)| {
                self.walk(referring, inlined.get(name).unwrap_or(&Value::Null), level + 1)
            });
        }
        for key in ["items", "additionalProperties"] {
            if let (Some(referring), Some(inlined)) = (node.get_mut(key), inlined.get(key)) {
                self.walk(referring, inlined, level + 1);
            }
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            if let (Some(Value::Array(referring)), Some(Value::Array(inlined))) = (node.get_mut(key), inlined.get(key))
                && referring.len() == inlined.len()
            {
                referring
                    .iter_mut()
                    .zip(inlined)
                    .for_each(|(referring, inlined)| self.walk(referring, inlined, level + 1));
            }
        }
    }

    /// Adds the constraints of the inlined schema that its definition does not have.
    fn add_constraints(&mut self, node: &mut Map<String, Value>, name: &str, inlined: &Value) {
        let known = self.constraints(name);
        for key in CONSTRAINTS {
            let is_known = |constraint: &Value| known.and_then(|known| known.get(*key)) == Some(constraint);
            if let Some(constraint) = inlined.get(*key).filter(|constraint| !is_known(constraint)) {
                node.entry(*key).or_insert_with(|| constraint.clone());
            }
        }
        if !name.starts_with("io.k8s.") && self.seen.insert(name.to_owned()) {
            self.pending.push((name.to_owned(), inlined.clone()));
        }
    }

    /// Returns the constraints of a definition, resolving aliases.
    fn constraints<'a>(&'a self, mut name: &'a str) -> Option<&'a Map<String, Value>> {
        for _ in 0..super::MAX_DEPTH {
            match self.definitions.get(name)? {
                Definition::Alias(next) => name = next,
                Definition::Constraints(constraints) => return Some(constraints),
            }
        }
        None
    }
}

/// Returns the name of the definition that a node refers to, directly or as an `Option`.
fn reference_name(node: &Map<String, Value>) -> Option<String> {
    let option = || match node.get("anyOf")?.as_array()?.as_slice() {
        [some, null] if super::flatten::is_null(null) => some.get("$ref"),
        _ => None,
    };
    let reference = node.get("$ref").or_else(option)?.as_str()?;
    Some(reference.strip_prefix("#/$defs/")?.to_owned())
}
