//! The merged conjuncts of a node, before its alternatives are merged and it is normalized.

use std::collections::BTreeMap;

use kubewright_names::extension::Extension;
use serde_json::{Value, json};

use super::{INT_OR_STRING, Node, strings};

/// The merged conjuncts of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Flattened {
    /// The keywords of the structural schema. The schemas in `properties`, `items` and `additionalProperties` are not
    /// converted.
    pub(super) node: Node,
    /// Alternatives that are not merged yet.
    pub(super) unions: Vec<Union>,
    /// Logical junctors of value validations: nodes with a single `oneOf`, `anyOf` or `not`.
    pub(super) junctors: Vec<Node>,
    pub(super) extensions: BTreeMap<Extension, Value>,
    /// Whether null is a value of the type, as of an `Option`.
    pub(super) accepts_null: bool,
    /// Whether list items are unique.
    pub(super) unique_items: bool,
    /// The name of the Rust variant, if the node is an alternative.
    pub(super) variant: Option<String>,
    /// What cannot be converted.
    pub(super) errors: Vec<String>,
}

/// Alternatives that are not converted.
#[derive(Clone, Debug)]
pub(super) struct Union {
    /// Whether exactly one must match, otherwise at least one.
    pub(super) exactly_one: bool,
    pub(super) alternatives: Vec<Value>,
}

impl Flattened {
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.node.get(key)
    }

    /// Whether an extension is true.
    pub(super) fn has(&self, extension: Extension) -> bool {
        self.extensions.get(&extension) == Some(&json!(true))
    }

    pub(super) fn push_error(&mut self, message: impl Into<String>) {
        self.errors.push(message.into());
    }

    pub(super) fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.get("properties").and_then(Value::as_object).into_iter().flatten()
    }

    pub(super) fn is_object(&self) -> bool {
        self.get("type") == Some(&json!("object"))
            || ["properties", "additionalProperties"].iter().any(|key| self.get(key).is_some())
    }

    /// Returns the JSON type of an alternative.
    pub(super) fn json_type(&self) -> &str {
        match self.get("type").and_then(Value::as_str) {
            Some(name) => name,
            None if self.get(INT_OR_STRING).is_some() => "int-or-string",
            None if self.is_object() => "object",
            None if self.get("items").is_some() => "array",
            None => "any",
        }
    }

    /// Returns the only allowed value of a required field: the tag of an alternative.
    pub(super) fn tag_value(&self, name: &str) -> Option<&Value> {
        let schema = self.get("properties")?.get(name)?;
        let is_required = strings(self.get("required")).any(|required| required == name);
        let tag_value = schema.get("const").or_else(|| match schema.get("enum")?.as_array()?.as_slice() {
            [only] => Some(only),
            _ => None,
        });
        tag_value.filter(|_| is_required)
    }
}
