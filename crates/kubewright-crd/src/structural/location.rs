//! The current location of the conversion: the JSON path, and the Rust type and field.

use kubewright_names::extension::Extension;
use serde_json::Value;

/// The location of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    /// The JSON path.
    pub(super) path: String,
    /// The Rust type and field.
    pub(super) rust_field: Option<String>,
    /// The source file and line of the innermost field with a known one.
    pub(super) source: Option<String>,
    /// The number of nodes above.
    pub(super) level: usize,
    /// The number of expanded levels of a recursive type.
    pub(super) depth: Option<usize>,
    /// Whether the field allows floats, also as list items and map values.
    pub(super) floats: bool,
    /// How often the node can occur in an object.
    pub(super) cardinality: Cardinality,
}

/// How often a node can occur in an object. The server multiplies the cost of a rule with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cardinality {
    #[default]
    One,
    /// All enclosing lists and maps have a maximum size.
    Bounded,
    Unbounded,
}

impl Location {
    /// Returns the location of a property. Its schema specifies the Rust type and field, and their source location, if
    /// they differ from those of the node.
    pub(super) fn property(&self, name: &str, schema: &Value) -> Location {
        let owner = find(schema, Extension::RustOwner.name()).and_then(Value::as_str);
        let field = find(schema, Extension::RustField.name()).and_then(Value::as_str).unwrap_or(name);
        let rust_field = owner.map(|owner| format!("{owner}::{field}"));
        let source = find(schema, Extension::Location.name())
            .and_then(Value::as_str)
            .map(str::to_owned)
            .or_else(|| self.source.clone());
        Location { rust_field, source, floats: false, ..self.child(&format!(".{name}")) }
    }

    /// Returns the location with the depth that a schema specifies.
    pub(super) fn with_depth_of(&self, schema: &Value) -> Location {
        let depth =
            find(schema, Extension::Depth.name()).and_then(Value::as_u64).and_then(|depth| depth.try_into().ok());
        Location { depth: depth.or(self.depth), ..self.clone() }
    }

    /// Returns the location of list items or map values, which have the Rust field of the list or map.
    pub(super) fn child(&self, segment: &str) -> Location {
        Location { path: format!("{}{segment}", self.path), ..self.nested() }
    }

    /// Returns the location of a nested schema of the same node.
    pub(super) fn nested(&self) -> Location {
        Location { level: self.level + 1, ..self.clone() }
    }
}

/// Returns a keyword of a schema or of one of its conjuncts. The last conjunct has precedence.
pub(super) fn find<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let conjuncts = || schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    schema.get(key).or_else(|| conjuncts().rev().find_map(|conjunct| conjunct.get(key)))
}
