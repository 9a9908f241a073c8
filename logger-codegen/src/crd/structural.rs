//! From the schema schemars makes to the structural schema the API server takes. What cannot be said there is refused
//! with the field it is on.
//!
//! The rules are those of apiextensions.k8s.io/v1: every node has a type, nothing is nullable by itself, no `$ref`, no
//! alternatives with types of their own. Optional is not nullable: an absent field is absent.

use serde_json::{Map, Value, json};

use crate::diagnostic::Diagnostics;

type Node = Map<String, Value>;

/// The schema of a whole object. `docs` describes the kind.
pub(super) fn root(schema: Value, item: &str, docs: &str, found: &mut Diagnostics) -> Option<Value> {
    let before = found.0.len();
    let mut root = Pass { item, found }.node(schema, "");
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    properties["metadata"] = json!({"type": "object"});
    properties["apiVersion"] = json!({
        "type": "string",
        "description": "Group and version of this object's form, such as example.com/v1.",
    });
    properties["kind"] = json!({"type": "string", "description": "What this object is, in CamelCase."});
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| name != "metadata");
    }
    root.retain(|key, value| key != "required" || value.as_array().is_some_and(|required| !required.is_empty()));
    root.insert("type".to_owned(), json!("object"));
    if !docs.is_empty() {
        root.insert("description".to_owned(), json!(docs));
    }
    (found.0.len() == before).then_some(Value::Object(root))
}

struct Pass<'a> {
    item: &'a str,
    found: &'a mut Diagnostics,
}

impl Pass<'_> {
    fn refuse(&mut self, path: &str, message: &str) -> Node {
        self.found.push(format!("{}{path}", self.item), message);
        Node::new()
    }

    /// One node and all below it.
    fn node(&mut self, schema: Value, path: &str) -> Node {
        let mut node = match schema {
            Value::Object(node) if !node.is_empty() => node,
            Value::Object(_) | Value::Bool(true) => {
                return Node::from_iter([("x-kubernetes-preserve-unknown-fields".to_owned(), json!(true))]);
            }
            _ => return self.refuse(path, "no value is allowed here, so it cannot be part of an API"),
        };
        for key in ["$schema", "title", "readOnly", "writeOnly", "deprecated", "examples"] {
            node.remove(key);
        }
        self.single_alternative(&mut node);
        if let Some(message) = refused(&node) {
            return self.refuse(path, message);
        }
        unit_enum(&mut node);
        self.without_null(&mut node, path);
        self.alternatives(&mut node, path);
        self.integer(&mut node, path);
        exclusive_bounds(&mut node);
        self.children(&mut node, path);
        self.has_type(&mut node, path);
        node
    }

    /// `allOf` of one, and a choice between one thing and null, are that one thing.
    fn single_alternative(&mut self, node: &mut Node) {
        for key in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(alternatives)) = node.get_mut(key) else {
                continue;
            };
            alternatives.retain(|alternative| alternative.get("type") != Some(&json!("null")));
            if let [Value::Object(only)] = alternatives.as_mut_slice() {
                let only = std::mem::take(only);
                node.remove(key);
                // What is said on the field itself (its description, say) wins over what its type says.
                for (key, value) in only {
                    node.entry(key).or_insert(value);
                }
                return self.single_alternative(node);
            }
        }
    }

    /// `Option` is an absent field, not a null.
    fn without_null(&mut self, node: &mut Node, path: &str) {
        if let Some(Value::Array(types)) = node.get_mut("type") {
            types.retain(|name| name != "null");
            match types.as_slice() {
                [only] => {
                    let only = only.clone();
                    node.insert("type".to_owned(), only);
                }
                _ => drop(self.refuse(path, "a field has one type; use an enum with a struct for each form")),
            }
        }
        if let Some(Value::Array(values)) = node.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        node.retain(|key, value| key != "default" || !value.is_null());
        if let Some(default) = node.get_mut("default") {
            prune_nulls(default);
        }
    }

    /// Alternatives that are left are more than a structural schema can say in this form.
    fn alternatives(&mut self, node: &mut Node, path: &str) {
        if ["allOf", "anyOf", "oneOf", "not"]
            .iter()
            .any(|key| node.contains_key(*key))
        {
            let message = "an enum whose variants carry data has no structural schema yet; use a struct with one optional \
                           field for each variant";
            *node = self.refuse(path, message);
            node.insert("type".to_owned(), json!("object"));
        }
    }

    /// The server knows the formats int32 and int64; other widths become bounds.
    fn integer(&mut self, node: &mut Node, path: &str) {
        let Some(format) = node.get("format").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        let (format, min, max) = match format.as_str() {
            "int8" => ("int32", Some(i64::from(i8::MIN)), Some(i64::from(i8::MAX))),
            "int16" => ("int32", Some(i64::from(i16::MIN)), Some(i64::from(i16::MAX))),
            "uint8" => ("int32", Some(0), Some(i64::from(u8::MAX))),
            "uint16" => ("int32", Some(0), Some(i64::from(u16::MAX))),
            "uint32" => ("int64", Some(0), Some(i64::from(u32::MAX))),
            "uint64" | "uint" => ("int64", Some(0), None),
            "int" => ("int64", None, None),
            "int128" | "uint128" => {
                drop(self.refuse(
                    path,
                    "the API server has no 128-bit integers; use `i64`, or `String` for larger numbers",
                ));
                return;
            }
            _ => return,
        };
        node.insert("format".to_owned(), json!(format));
        if let Some(min) = min {
            bound(node, "minimum", min, i64::max);
        }
        if let Some(max) = max {
            bound(node, "maximum", max, i64::min);
        }
    }

    fn children(&mut self, node: &mut Node, path: &str) {
        if let Some(Value::Object(properties)) = node.get_mut("properties") {
            // The metadata of the root is the server's own.
            properties.retain(|name, _| !(path.is_empty() && name == "metadata"));
            for (name, schema) in properties {
                *schema = Value::Object(self.node(schema.take(), &format!("{path}.{name}")));
            }
        }
        if let Some(items) = node.get_mut("items") {
            *items = Value::Object(self.node(items.take(), &format!("{path}[]")));
        }
        match node.remove("additionalProperties") {
            // The server leaves out what the schema does not name.
            None | Some(Value::Bool(false)) => {}
            Some(schema) => {
                let schema = self.node(schema, &format!("{path}{{}}"));
                node.insert("additionalProperties".to_owned(), Value::Object(schema));
            }
        }
    }

    /// A node that says nothing but its description is any JSON; all others must have a type.
    fn has_type(&mut self, node: &mut Node, path: &str) {
        let known = [
            "type",
            "x-kubernetes-int-or-string",
            "x-kubernetes-preserve-unknown-fields",
        ];
        if known.iter().any(|key| node.contains_key(*key)) {
            return;
        }
        if node
            .keys()
            .all(|key| ["description", "default", "example"].contains(&key.as_str()))
        {
            node.insert("x-kubernetes-preserve-unknown-fields".to_owned(), json!(true));
        } else {
            self.refuse(
                path,
                "its JSON type is not known; derive `JsonSchema` or give it `#[schemars(with = \"..\")]`",
            );
        }
    }
}

/// What no structural schema can say, with the way out.
fn refused(node: &Node) -> Option<&'static str> {
    let refused = [
        (
            "$ref",
            "a type that contains itself has no structural schema; break the cycle with `serde_json::Value`",
        ),
        (
            "prefixItems",
            "a tuple has no structural schema; use a struct with named fields",
        ),
        (
            "patternProperties",
            "map keys are strings in JSON; use `BTreeMap<String, _>`",
        ),
    ];
    refused
        .iter()
        .find(|(key, _)| node.contains_key(*key))
        .map(|(_, message)| *message)
}

/// `oneOf` of constants, as schemars writes a unit enum with docs, and a single `const`, are an `enum`.
fn unit_enum(node: &mut Node) {
    if let Some(value) = node.remove("const") {
        node.insert("enum".to_owned(), json!([value]));
    }
    let Some(Value::Array(variants)) = node.get("oneOf") else {
        return;
    };
    let values: Option<Vec<Value>> = variants
        .iter()
        .map(|variant| {
            match (
                variant.get("type")?.as_str()?,
                variant.get("const"),
                variant.get("enum"),
            ) {
                ("string", Some(value), _) => Some(vec![value.clone()]),
                ("string", None, Some(Value::Array(values))) => Some(values.clone()),
                _ => None,
            }
        })
        .collect::<Option<Vec<_>>>()
        .map(|values| values.concat());
    if let Some(values) = values {
        node.remove("oneOf");
        node.insert("type".to_owned(), json!("string"));
        node.insert("enum".to_owned(), json!(values));
    }
}

/// JSON Schema has the bound in `exclusiveMinimum`; the server has a flag beside `minimum`.
fn exclusive_bounds(node: &mut Node) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(value) = node.get(exclusive).filter(|value| value.is_number()).cloned() {
            node.insert(bound.to_owned(), value);
            node.insert(exclusive.to_owned(), json!(true));
        }
    }
    // A set is a list to the server; `uniqueItems` it refuses.
    if node.remove("uniqueItems") == Some(json!(true)) {
        node.entry("x-kubernetes-list-type").or_insert(json!("set"));
    }
}

/// The stricter of a bound that is there and one that the integer's width sets.
fn bound(node: &mut Node, key: &str, limit: i64, stricter: fn(i64, i64) -> i64) {
    let limit = node
        .get(key)
        .and_then(Value::as_i64)
        .map_or(limit, |given| stricter(given, limit));
    node.insert(key.to_owned(), json!(limit));
}

fn prune_nulls(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(prune_nulls);
        }
        Value::Array(array) => array.iter_mut().for_each(prune_nulls),
        _ => {}
    }
}
