//! Where the walk is: in the JSON, and in the Rust types it comes from.

use serde_json::Value;

/// A node's place.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Its JSON path.
    pub(super) path: String,
    /// Its Rust type and field.
    pub(super) rust: Option<String>,
    /// How many nodes are above it.
    pub(super) level: usize,
    /// How many levels of a type that contains itself may be spelled out here.
    pub(super) depth: Option<usize>,
    /// Whether the field allows floats: in a list or a map of them as well.
    pub(super) floats: bool,
    /// How often it may be there in one object.
    pub(super) times: Times,
}

/// How often a node may be there in one object: the server multiplies the cost of a rule by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Times {
    #[default]
    Once,
    /// In lists and maps that all have a bound.
    Bounded,
    Unbounded,
}

impl Place {
    /// The place of a property. Who declares it, and under which name in Rust, its own schema may say.
    pub(super) fn property(&self, name: &str, schema: &Value) -> Place {
        let owner = find(schema, OWNER).and_then(Value::as_str);
        let field = find(schema, FIELD).and_then(Value::as_str).unwrap_or(name);
        let rust = owner.map(|owner| format!("{owner}::{field}"));
        Place { rust, floats: false, ..self.below(&format!(".{name}")) }
    }

    /// This place, with the depth that a schema says, if it does.
    pub(super) fn with_depth_of(&self, schema: &Value) -> Place {
        let depth = find(schema, "x-logger-depth").and_then(Value::as_u64).and_then(|depth| depth.try_into().ok());
        Place { depth: depth.or(self.depth), ..self.clone() }
    }

    /// The place of a list's items, or of a map's values. In Rust they have no name but the field's.
    pub(super) fn below(&self, step: &str) -> Place {
        Place { path: format!("{}{step}", self.path), level: self.level + 1, ..self.clone() }
    }
}

/// On an object: the path of its Rust type.
pub(super) const TYPE: &str = "x-rust-type";
/// On a property: the name of its Rust field.
pub(super) const FIELD: &str = "x-rust-field";
/// On an alternative: the name of the Rust variant.
pub(super) const VARIANT: &str = "x-rust-variant";
/// On a property, put there by this pass: the Rust type that declares it. Flattened types share one object.
pub(super) const OWNER: &str = "x-rust-owner";

/// A keyword of a schema, or of one of its facts, the last one first.
pub(super) fn find<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let conjuncts = || schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    schema.get(key).or_else(|| conjuncts().rev().find_map(|conjunct| conjunct.get(key)))
}
