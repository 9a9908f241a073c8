//! Completes a structural node and its children.

use kubewright_names::extension::Extension;
use serde_json::{Value, json};

use super::{
    Converter, INT_OR_STRING, LIST_TYPE, Node, PRESERVE, UnionValidation, default,
    flatten::flatten,
    flattened::Flattened,
    is_true, known_types,
    location::{Cardinality, Location},
    map_keys,
    union::merge_unions,
};
use crate::schema::KEYWORDS;

/// Returns the structural node.
pub(super) fn normalize(converter: &mut Converter<'_>, mut flattened: Flattened, at: &Location) -> Node {
    if let Some(rust) = &at.rust_field {
        converter.rust_fields.insert(at.path.clone(), rust.clone());
    }
    move_root_alternatives_to_cel(converter, &mut flattened, at);
    merge_unions(converter, &mut flattened, at);
    collect_extensions(converter, &flattened, at);
    apply_each(&mut flattened);
    if flattened.has(Extension::Nullable) {
        flattened.merge("nullable", json!(true));
    }
    if flattened.has(Extension::NoFormat) {
        flattened.node.remove("format");
    }
    infer_type(&mut flattened);
    if let Some(message) = known_types::std_type_error(&flattened.node) {
        flattened.push_error(message);
    }
    if let Some(message) = flattened.extensions.get(&Extension::Rejected).and_then(Value::as_str).map(str::to_owned) {
        flattened.push_error(message);
    }
    let at = &Location { floats: at.floats || flattened.has(Extension::Float), ..at.clone() };
    if is_forbidden_float(converter, &flattened, at) {
        flattened.push_error(known_types::FLOAT);
    }
    if is_key_rule_unlimited(&flattened, at) {
        flattened.push_error(map_keys::COST);
    }
    if !flattened.errors.is_empty() {
        return opaque_node(converter, flattened, at);
    }
    let Flattened { mut node, junctors, unique_items, extensions, .. } = flattened;
    let has = |extension| extensions.get(&extension) == Some(&json!(true));
    remove_type_of_int_or_string(&mut node);
    sort_required(&mut node);
    convert_children(converter, &mut node, at);
    set_list_type(&mut node, unique_items);
    complete_type(converter, &mut node, at, has(Extension::Empty), has(Extension::Schemaless));
    validate_keywords(converter, &node, at);
    validate_types_of_keywords(converter, &node, at);
    validate_ranges(converter, &node, at);
    validate_nullable_enum(converter, &node, at);
    complete_default(converter, &mut node, at);
    add_junctors(&mut node, junctors);
    if has(Extension::Nullable) {
        node.insert(Extension::Nullable.name().to_owned(), json!(true));
    }
    node
}

fn is_root(converter: &Converter<'_>, at: &Location) -> bool {
    at.path.is_empty() && converter.options.root.is_some()
}

/// With a status subresource, the server rejects alternatives at the root. They are validated in CEL instead.
fn move_root_alternatives_to_cel(converter: &Converter<'_>, flattened: &mut Flattened, at: &Location) {
    if !is_root(converter, at) || converter.options.root.as_ref().is_some_and(|root| !root.status) {
        return;
    }
    if !flattened.unions.is_empty() && converter.options.union_validation == UnionValidation::Schema {
        flattened.extensions.insert(Extension::Via, json!("cel"));
    }
    if !flattened.junctors.is_empty() {
        flattened
            .push_error("the root of an object with a status cannot have `oneOf`, `anyOf` or `not`; use a CEL rule");
    }
}

/// Returns a node for any value if the schema preserves unknown fields. Otherwise reports the errors.
fn opaque_node(converter: &mut Converter<'_>, flattened: Flattened, at: &Location) -> Node {
    if is_true(&flattened.node, PRESERVE) {
        let preserved_keys = ["description", "example", "externalDocs", "nullable", "title", PRESERVE];
        return flattened.node.into_iter().filter(|(key, _)| preserved_keys.contains(&key.as_str())).collect();
    }
    for error in flattened.errors {
        converter.error(at, error);
    }
    Node::new()
}

fn collect_extensions(converter: &mut Converter<'_>, flattened: &Flattened, at: &Location) {
    for (extension, value) in flattened.extensions.iter().filter(|(extension, _)| !extension.is_private_to_conversion())
    {
        converter.extensions.entry(*extension).or_default().insert(at.path.clone(), value.clone());
    }
}

fn is_forbidden_float(converter: &Converter<'_>, flattened: &Flattened, at: &Location) -> bool {
    flattened.get("type") == Some(&json!("number")) && !at.floats && !converter.options.allow_floats
}

fn convert_children(converter: &mut Converter<'_>, node: &mut Node, at: &Location) {
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        for (name, schema) in properties {
            let at = at.property(name, schema).with_depth_of(schema);
            *schema = Value::Object(converter.node(&schema.take(), &at));
        }
    }
    let cardinality = if node.contains_key("maxItems") { Cardinality::Bounded } else { Cardinality::Unbounded };
    if let Some(items) = node.get_mut("items") {
        *items = Value::Object(convert_element(converter, &items.take(), at, ("[]", cardinality)));
    } else if node.get("type") == Some(&json!("array")) {
        converter.error(at, "an array without items has no structural schema; specify its items");
    }
    convert_map_values(converter, node, at);
}

/// Converts the schema of list items or map values. A `None` in a list or a map is null, because it cannot be
/// absent.
fn convert_element(
    converter: &mut Converter<'_>,
    schema: &Value,
    at: &Location,
    (segment, cardinality): (&str, Cardinality),
) -> Node {
    let child = Location { cardinality: cardinality.max(at.cardinality), ..at.child(segment).with_depth_of(schema) };
    if !converter.count_node(&child) {
        return Node::new();
    }
    let open = converter.open_references.len();
    let mut flattened = flatten(converter, schema, &child);
    if flattened.has(Extension::Byte) && segment == "[]" {
        converter.error(at, known_types::BYTES);
    }
    if flattened.accepts_null {
        flattened.merge("nullable", json!(true));
    }
    let node = normalize(converter, flattened, &child);
    converter.open_references.truncate(open);
    node
}

fn convert_map_values(converter: &mut Converter<'_>, node: &mut Node, at: &Location) {
    let Some(schema) = node.remove("additionalProperties") else { return };
    let cardinality = if node.contains_key("maxProperties") { Cardinality::Bounded } else { Cardinality::Unbounded };
    let schema = convert_element(converter, &schema, at, ("{}", cardinality));
    if !node.contains_key("properties") && !is_root(converter, at) {
        node.insert("additionalProperties".to_owned(), Value::Object(schema));
    } else if schema.contains_key(PRESERVE) {
        node.insert(PRESERVE.to_owned(), json!(true));
    } else {
        let message = "fields beside a flattened map have no structural schema unless its values are \
                       `serde_json::Value`; use a separate field for the map";
        converter.error(at, message);
    }
}

/// Preserves the unknown fields of a node without constraints, which accepts any JSON, and of an object without fields.
/// For any other node apart from the root, a missing type is an error.
fn complete_type(converter: &mut Converter<'_>, node: &mut Node, at: &Location, is_empty: bool, is_schemaless: bool) {
    let is_root = is_root(converter, at);
    let bare_object = node.get("type") == Some(&json!("object"))
        && !["properties", "additionalProperties"].iter().any(|key| node.contains_key(*key));
    if bare_object && !is_empty && !is_root {
        node.insert(PRESERVE.to_owned(), json!(true));
    }
    if is_root || ["type", INT_OR_STRING, PRESERVE].iter().any(|key| node.contains_key(*key)) {
        return;
    }
    let annotations = ["default", "description", "example", "externalDocs", "nullable", "title"];
    if is_schemaless || node.keys().all(|key| annotations.contains(&key.as_str())) {
        node.insert(PRESERVE.to_owned(), json!(true));
    } else {
        let message = "its JSON type is unknown; derive `JsonSchema`, or specify it with `#[schemars(with = \"..\")]`";
        converter.error(at, message);
    }
}

/// Validates that no range is empty.
fn validate_ranges(converter: &mut Converter<'_>, node: &Node, at: &Location) {
    for (min_key, max_key) in [
        ("minimum", "maximum"),
        ("minItems", "maxItems"),
        ("minLength", "maxLength"),
        ("minProperties", "maxProperties"),
    ] {
        let (Some(min), Some(max)) = (node.get(min_key), node.get(max_key)) else { continue };
        let is_exclusive = is_true(node, "exclusiveMinimum") || is_true(node, "exclusiveMaximum");
        let problem = if min.as_f64() > max.as_f64() {
            format!("`{min_key}` {min} exceeds `{max_key}` {max}")
        } else if min_key == "minimum" && is_exclusive && min.as_f64() == max.as_f64() {
            format!("`{min_key}` {min} equals `{max_key}` {max}, and one of them is exclusive")
        } else {
            continue;
        };
        converter.error_about(at, min_key, format!("empty range: {problem}; correct one of them"));
    }
}

/// Validates that a field with an `enum` is not nullable: the server rejects null even if it is an enum value.
fn validate_nullable_enum(converter: &mut Converter<'_>, node: &Node, at: &Location) {
    if node.contains_key("enum") && is_true(node, "nullable") {
        let message = "the API server rejects null for a field with an `enum`; add an enum value for it";
        converter.error_about(at, "enum", message);
    }
}

/// Converts the default as the server stores it, and validates it, because the server rejects a definition with an
/// invalid default.
fn complete_default(converter: &mut Converter<'_>, node: &mut Node, at: &Location) {
    let Some(mut given) = node.remove("default") else { return };
    default::prune_nulls(&mut given, node);
    if given.is_null() {
        return;
    }
    if let (Some("set"), Value::Array(items)) = (node.get(LIST_TYPE).and_then(Value::as_str), &mut given) {
        items.sort_by_cached_key(Value::to_string);
    }
    if let Some(invalid) = default::validate(&given, node) {
        converter.error_about(at, "default", format!("{invalid}; change the default or the constraint"));
    }
    node.insert("default".to_owned(), given);
}

/// Validates that the server supports all keywords.
fn validate_keywords(converter: &mut Converter<'_>, node: &Node, at: &Location) {
    for key in node.keys().filter(|key| !KEYWORDS.contains(&key.as_str())) {
        let message = format!("the API server does not support the schema keyword `{key}`; remove or correct it");
        converter.error_about(at, key, message);
    }
}

/// Validates that the constraints apply to the type: the server ignores others without an error.
fn validate_types_of_keywords(converter: &mut Converter<'_>, node: &Node, at: &Location) {
    let Some(found) = node.get("type").and_then(Value::as_str) else { return };
    for (keywords, types, instead) in [
        (&["minimum", "maximum", "multipleOf"][..], &["integer", "number"][..], "numbers"),
        (&["minLength", "maxLength", "pattern"], &["string"], "strings"),
        (&["minItems", "maxItems"], &["array"], "lists"),
        (&["minProperties", "maxProperties"], &["object"], "maps"),
    ] {
        for key in keywords.iter().filter(|key| node.contains_key(**key) && !types.contains(&found)) {
            let message = format!("`{key}` applies to {instead}, and this is of type {found}; remove it");
            converter.error_about(at, key, message);
        }
    }
}

/// Whether a rule about map keys has no limited cost.
fn is_key_rule_unlimited(flattened: &Flattened, at: &Location) -> bool {
    let is_bounded = flattened.get("maxProperties").is_some();
    flattened.has(Extension::KeyRule)
        && (at.cardinality == Cardinality::Unbounded || at.cardinality == Cardinality::Bounded && !is_bounded)
}

/// Applies the constraints of `x-kubewright-each` to list items or map values.
fn apply_each(flattened: &mut Flattened) {
    let Some(constraints) = flattened.extensions.get(&Extension::Each).cloned() else { return };
    match ["items", "additionalProperties"].into_iter().find(|key| flattened.get(key).is_some()) {
        Some(key) => flattened.merge(key, constraints),
        None => flattened.push_error("`each` applies to list items and map values, and this is neither; remove it"),
    }
}

fn infer_type(flattened: &mut Flattened) {
    if flattened.get("x-kubernetes-embedded-resource").is_some() && flattened.get("type").is_none() {
        return flattened.merge("type", json!("object"));
    }
    if ["type", INT_OR_STRING, PRESERVE].iter().any(|key| flattened.get(key).is_some()) {
        return;
    }
    let values = flattened.get("enum").and_then(Value::as_array);
    let all = |is: fn(&Value) -> bool| values.is_some_and(|values| values.iter().all(is));
    let inferred = if ["properties", "additionalProperties"].iter().any(|key| flattened.get(key).is_some()) {
        "object"
    } else if flattened.get("items").is_some() {
        "array"
    } else if all(Value::is_string) {
        "string"
    } else if all(Value::is_i64) {
        "integer"
    } else if all(Value::is_boolean) {
        "boolean"
    } else {
        return;
    };
    flattened.merge("type", json!(inferred));
}

/// Sorts the required fields, because the order of flattened types is not deterministic.
fn sort_required(node: &mut Node) {
    if let Some(Value::Array(required)) = node.get_mut("required") {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        required.dedup();
    }
}

fn remove_type_of_int_or_string(node: &mut Node) {
    if is_true(node, INT_OR_STRING) {
        node.remove("type");
        node.remove("format");
    }
}

/// Sets the list type of a list of unique scalars, because the server rejects `uniqueItems`.
fn set_list_type(node: &mut Node, unique_items: bool) {
    let item = node.get("items").and_then(|items| items.get("type")).and_then(Value::as_str);
    let nullable = node.get("items").and_then(|items| items.get("nullable")).is_some();
    if unique_items && !nullable && item.is_some_and(|item| ["string", "integer", "number", "boolean"].contains(&item))
    {
        node.entry(LIST_TYPE).or_insert(json!("set"));
    }
}

/// Adds junctors to the node if no two have the same keyword, otherwise to its `allOf`. That of an int-or-string must
/// be first.
fn add_junctors(node: &mut Node, mut junctors: Vec<Node>) {
    let int_or_string = Node::from_iter([("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]))]);
    if is_true(node, INT_OR_STRING) {
        junctors.retain(|junctor| *junctor != int_or_string);
        junctors.insert(0, int_or_string);
    }
    junctors.dedup();
    let keys: Vec<&String> = junctors.iter().flat_map(Node::keys).collect();
    let distinct = keys.iter().enumerate().all(|(i, key)| !keys[..i].contains(key));
    match distinct {
        true => node.extend(junctors.into_iter().flatten()),
        false => drop(node.insert("allOf".to_owned(), junctors.into_iter().map(Value::Object).collect())),
    }
}
