//! From the schema schemars makes to the structural schema the API server takes. What cannot be said there is refused
//! with the field it is on.
//!
//! The rules are those of apiextensions.k8s.io/v1: every node has a type, nothing is nullable by itself, no `$ref`, no
//! alternatives with types of their own. Optional is not nullable: an absent field is absent.

mod default;

use serde_json::{Map, Value, json};

use crate::diagnostic::Diagnostics;

type Node = Map<String, Value>;

/// Keywords of the server's schema that are taken over as they are; all `x-kubernetes-` ones are too.
const KEYWORDS: &[&str] = &[
    "additionalProperties",
    "default",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];
const KUBERNETES_KEYWORDS: &[&str] = &[
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// What the root needs beside its schema.
pub(super) struct Root<'a> {
    /// Path of the Rust type.
    pub(super) item: &'a str,
    /// Its docs.
    pub(super) docs: &'a str,
    /// Whether the status is a subresource. Then the server drops it from every create.
    pub(super) status: bool,
}

/// The schema of a whole object.
pub(super) fn root(schema: Value, root: &Root<'_>, found: &mut Diagnostics) -> Option<Value> {
    let before = found.0.len();
    let mut pass = Pass { item: root.item, found };
    let mut node = pass.node(schema, "");
    let requires =
        |name: &str| node.get("required").and_then(Value::as_array).is_some_and(|r| r.contains(&json!(name)));
    if root.status && requires("status") {
        pass.refuse(".status", "a new object has no status: make it an `Option`, or add `#[serde(default)]`");
    }
    let properties = node.entry("properties").or_insert_with(|| json!({}));
    properties["metadata"] = json!({"type": "object"});
    properties["apiVersion"] = json!({
        "type": "string",
        "description": "Group and version of this object's form.",
    });
    properties["kind"] = json!({"type": "string", "description": "What this object is, in CamelCase."});
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.retain(|name| name != "metadata");
    }
    node.retain(|key, value| key != "required" || value.as_array().is_some_and(|required| !required.is_empty()));
    node.insert("type".to_owned(), json!("object"));
    node.remove(PRESERVE);
    if !root.docs.is_empty() {
        node.insert("description".to_owned(), json!(root.docs));
    }
    (found.0.len() == before).then_some(Value::Object(node))
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
            Value::Object(_) | Value::Bool(true) => return Node::from_iter([(PRESERVE.to_owned(), json!(true))]),
            _ => return self.refuse(path, "no value is allowed here, so it cannot be part of an API"),
        };
        for key in ["$schema", "title", "readOnly", "writeOnly", "deprecated", "examples"] {
            node.remove(key);
        }
        if let Err(message) = single_alternative(&mut node) {
            return self.refuse(path, &message);
        }
        if let Some(message) = refused(&node) {
            return self.refuse(path, message);
        }
        unit_enum(&mut node);
        self.without_null(&mut node, path);
        if self.has_alternatives(&node, path) {
            return Node::new();
        }
        self.integer(&mut node, path);
        exclusive_bounds(&mut node);
        self.children(&mut node, path);
        set_of_scalars(&mut node);
        self.has_type(&mut node, path);
        self.keywords_are_known(&node, path);
        self.null_is_no_word(&node, path);
        self.default_obeys_the_schema(&node, path);
        node
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
    fn has_alternatives(&mut self, node: &Node, path: &str) -> bool {
        let has = ["allOf", "anyOf", "oneOf", "not"].iter().any(|key| node.contains_key(*key));
        if has {
            let message = "alternatives (an enum whose variants carry data, say) have no structural schema yet; use a \
                           struct with one optional field for each";
            self.refuse(path, message);
        }
        has
    }

    /// The server knows the formats int32 and int64; other widths become bounds.
    fn integer(&mut self, node: &mut Node, path: &str) {
        let Some(format) = node.get("format").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        let (format, min, max) =
            match format.as_str() {
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
            *items = Value::Object(self.item(items.take(), &format!("{path}[]")));
        } else if node.get("type") == Some(&json!("array")) {
            self.refuse(path, "an array that holds nothing cannot be part of an API");
        }
        self.values_of_a_map(node, path);
    }

    /// A `None` in a list is a null: there is no field that could be absent.
    fn item(&mut self, schema: Value, path: &str) -> Node {
        let types = schema.get("type").and_then(Value::as_array);
        let nullable = types.is_some_and(|types| types.contains(&json!("null")));
        let mut item = self.node(schema, path);
        if nullable {
            item.insert("nullable".to_owned(), json!(true));
            self.null_is_no_word(&item, path);
        }
        item
    }

    fn values_of_a_map(&mut self, node: &mut Node, path: &str) {
        let schema = match node.remove("additionalProperties") {
            // The server leaves out what the schema does not name.
            None | Some(Value::Bool(false)) => return,
            Some(schema) => self.node(schema, &format!("{path}{{}}")),
        };
        if !node.contains_key("properties") {
            node.insert("additionalProperties".to_owned(), Value::Object(schema));
        } else if schema.contains_key(PRESERVE) {
            node.insert(PRESERVE.to_owned(), json!(true));
        } else {
            let message = "fields beside a flattened map have no structural schema unless its values are \
                           `serde_json::Value`; give the map a field of its own";
            self.refuse(path, message);
        }
    }

    /// A node that says nothing but its description is any JSON, an object without fields any object; all others must
    /// have a type.
    fn has_type(&mut self, node: &mut Node, path: &str) {
        let bare_object = node.get("type") == Some(&json!("object"))
            && !["properties", "additionalProperties"].iter().any(|key| node.contains_key(*key));
        if bare_object {
            node.insert(PRESERVE.to_owned(), json!(true));
        }
        if ["type", "x-kubernetes-int-or-string", PRESERVE].iter().any(|key| node.contains_key(*key)) {
            return;
        }
        if node.keys().all(|key| ["description", "default", "example", "nullable"].contains(&key.as_str())) {
            node.insert(PRESERVE.to_owned(), json!(true));
        } else {
            self.refuse(
                path,
                "its JSON type is not known; derive `JsonSchema` or give it `#[schemars(with = \"..\")]`",
            );
        }
    }

    /// No null fits an `enum` for the server, not even if it is among its words.
    fn null_is_no_word(&mut self, node: &Node, path: &str) {
        if node.contains_key("enum") && node.get("nullable") == Some(&json!(true)) {
            self.refuse(path, "the API server takes no null where there is an `enum`; add a word that stands for it");
        }
    }

    /// The server refuses a definition with a default that it would refuse as a value.
    fn default_obeys_the_schema(&mut self, node: &Node, path: &str) {
        let broken = node.get("default").and_then(|value| default::broken(value, node));
        if let Some(broken) = broken {
            self.refuse(path, &format!("{broken}; change the default or the rule"));
        }
    }

    /// A word the server does not know would be dropped, or refused, by it.
    fn keywords_are_known(&mut self, node: &Node, path: &str) {
        let is_known = |key: &&str| KEYWORDS.contains(key) || KUBERNETES_KEYWORDS.contains(key);
        for key in node.keys().map(String::as_str).filter(|key| !is_known(key)) {
            self.refuse(path, &format!("the API server knows no schema keyword `{key}`; remove or correct it"));
        }
    }
}

/// `allOf` of one, and a choice between one thing and nothing (an `Option`), are that one thing.
fn single_alternative(node: &mut Node) -> Result<(), String> {
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = node.get_mut(key) else { continue };
        if key == "anyOf" && alternatives.len() == 2 && alternatives[1] == json!({"type": "null"}) {
            alternatives.pop();
        }
        if let [Value::Object(only)] = alternatives.as_mut_slice() {
            let only = std::mem::take(only);
            node.remove(key);
            for (key, value) in only {
                merge(node, key, value)?;
            }
            return single_alternative(node);
        }
    }
    Ok(())
}

/// Adds what a type says to what is said on the field of that type. Descriptions and defaults of the field win; fields
/// and bounds of both count.
fn merge(node: &mut Node, key: String, value: Value) -> Result<(), String> {
    let Some(own) = node.get_mut(&key) else {
        node.insert(key, value);
        return Ok(());
    };
    match (key.as_str(), own, value) {
        ("description" | "default" | "title" | "examples", _, _) => {}
        (_, own, value) if *own == value => {}
        ("properties", Value::Object(own), Value::Object(value)) => {
            for (name, schema) in value {
                if own.insert(name.clone(), schema).is_some() {
                    return Err(format!("two flattened types have a field `{name}`; rename one"));
                }
            }
        }
        ("required", Value::Array(own), Value::Array(value)) => own.extend(value),
        ("minimum" | "minLength" | "minItems" | "minProperties", own, value) => {
            if own.as_f64() < value.as_f64() {
                *own = value;
            }
        }
        ("maximum" | "maxLength" | "maxItems" | "maxProperties", own, value) => {
            if own.as_f64() > value.as_f64() {
                *own = value;
            }
        }
        (key, _, _) => return Err(format!("its type and its field differ on `{key}`; say it in one place")),
    }
    Ok(())
}

/// What no structural schema can say, with the way out.
fn refused(node: &Node) -> Option<&'static str> {
    let refused = [
        ("$ref", "a type that contains itself has no structural schema; break the cycle with `serde_json::Value`"),
        ("prefixItems", "a tuple has no structural schema; use a struct with named fields"),
        ("not", "a value that must not be something has no structural schema; use a bound or a plain type"),
        ("patternProperties", "map keys are strings in JSON; use `BTreeMap<String, _>`"),
    ];
    if node.get("type") == Some(&json!("null")) {
        return Some("a unit has no value in JSON; leave the field out, or use a struct");
    }
    refused.iter().find(|(key, _)| node.contains_key(*key)).map(|(_, message)| *message)
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
        .map(|variant| match (variant.get("type")?.as_str()?, variant.get("const"), variant.get("enum")) {
            ("string", Some(value), _) => Some(vec![value.clone()]),
            ("string", None, Some(Value::Array(values))) => Some(values.clone()),
            _ => None,
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
        let Some(limit) = node.get(exclusive).filter(|limit| limit.is_number()).cloned() else { continue };
        let is_stricter = |own: &Value| match bound {
            "minimum" => own.as_f64() > limit.as_f64(),
            _ => own.as_f64() < limit.as_f64(),
        };
        if node.get(bound).is_some_and(is_stricter) {
            node.remove(exclusive);
        } else {
            node.insert(bound.to_owned(), limit);
            node.insert(exclusive.to_owned(), json!(true));
        }
    }
}

/// A set of scalars is a list of type set to the server; `uniqueItems` it refuses. A set has no order, so its default
/// is sorted: two runs give the same file.
fn set_of_scalars(node: &mut Node) {
    if node.remove("uniqueItems") != Some(json!(true)) {
        return;
    }
    if let Some(Value::Array(default)) = node.get_mut("default") {
        default.sort_by_cached_key(Value::to_string);
    }
    let item = node.get("items").and_then(|items| items.get("type")).and_then(Value::as_str);
    if item.is_some_and(|item| ["string", "integer", "number", "boolean"].contains(&item)) {
        node.entry("x-kubernetes-list-type").or_insert(json!("set"));
    }
}

/// The stricter of a bound that is there and one that the integer's width sets.
fn bound(node: &mut Node, key: &str, limit: i64, stricter: fn(i64, i64) -> i64) {
    let limit = node.get(key).and_then(Value::as_i64).map_or(limit, |given| stricter(given, limit));
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

#[cfg(test)]
mod tests;
