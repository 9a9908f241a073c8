//! Merges all conjuncts of a node: its keywords, the definitions that it refers to, and constraints of the field.

use kubewright_names::extension::Extension;
use serde_json::{Value, json};

use super::{
    Converter, INT_OR_STRING, Node, PRESERVE,
    flattened::{Flattened, Union},
    known_types,
    location::{Location, find},
    map_keys, number, overlay, value_validation,
};

/// Keywords that the server does not support, and that can be dropped.
const IGNORED: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "definitions",
    "deprecated",
    "readOnly",
    "writeOnly",
];

const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// Merges the conjuncts of a schema. Resolved references stay open for the children, to detect recursive types.
pub(super) fn flatten(converter: &mut Converter<'_>, schema: &Value, at: &Location) -> Flattened {
    let mut flattened = Flattened::default();
    if is_true(schema, Extension::Schemaless.name()) {
        let description = find(schema, "description").cloned();
        flattened.node.extend(description.map(|text| ("description".to_owned(), text)));
        let constraints = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for constraint in constraints.filter(|constraint| is_true_here(constraint, Extension::Schemaless.name())) {
            merge_conjunct(converter, constraint, &mut flattened, at);
        }
        flattened.extensions.insert(Extension::Schemaless, json!(true));
        return flattened;
    }
    merge_conjunct(converter, schema, &mut flattened, at);
    flattened
}

/// Merges one conjunct. Its keywords are merged last, so that they have precedence over the definition it refers
/// to.
pub(super) fn merge_conjunct(converter: &mut Converter<'_>, schema: &Value, flattened: &mut Flattened, at: &Location) {
    let node = match schema {
        Value::Object(node) => node,
        Value::Bool(true) => return,
        Value::Bool(false) => return flattened.push_error("the schema `false` accepts no value; remove the field"),
        _ => {
            return flattened
                .push_error("its schema is neither an object nor a boolean; correct its `JsonSchema` impl");
        }
    };
    let nested = at.nested();
    if !converter.count_node(&nested) {
        return;
    }
    if let Some(reference) = node.get("$ref") {
        merge_definition(converter, reference.as_str().unwrap_or_default(), flattened, &nested);
    }
    for conjunct in node.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        merge_conjunct(converter, conjunct, flattened, &nested);
    }
    merge_alternatives(converter, node, flattened, &nested);
    merge_keywords(converter, node, flattened);
}

/// Merges the definition of a reference.
fn merge_definition(converter: &mut Converter<'_>, reference: &str, flattened: &mut Flattened, at: &Location) {
    let document = converter.document;
    let pointer = reference.strip_prefix('#').map(percent_decode);
    let Some(definition) = pointer.as_deref().and_then(|pointer| document.pointer(pointer)) else {
        return flattened
            .push_error(format!("its schema refers to `{reference}`, which does not exist; add it to `$defs`"));
    };
    let name = definition_name(reference);
    let name = match name.as_str() {
        "#" => definition
            .get(Extension::RustType.name())
            .or(definition.get("title"))
            .and_then(Value::as_str)
            .unwrap_or("Self")
            .to_owned(),
        _ => name,
    };
    let enclosing = match converter.open_references.iter().filter(|open| **open == name).count() {
        count if count > 0 && is_recursive(converter, &name) => count,
        _ => 0,
    };
    match at.with_depth_of(definition).depth {
        _ if enclosing == 0 => {}
        Some(depth) if enclosing < depth => {}
        Some(_) => return accept_any(definition, flattened),
        None => return flattened.push_error(cycle(converter, &name)),
    }
    converter.open_references.push(name.clone());
    match known_types::type_of(&name, converter.options) {
        Some(known) => merge_conjunct(converter, &known, flattened, at),
        None => match overlay::apply(&name, definition) {
            Some(definition) => merge_conjunct(converter, &definition, flattened, at),
            None => merge_conjunct(converter, definition, flattened, at),
        },
    }
}

/// Whether a definition refers to itself, directly or through others. A type of a variant is open for the fields of
/// the other variants, too.
fn is_recursive(converter: &Converter<'_>, name: &str) -> bool {
    let definitions = converter.document.get("$defs").and_then(Value::as_object);
    let (mut seen, mut pending) = (Vec::new(), vec![name.to_owned()]);
    while let Some(next) = pending.pop() {
        let Some(definition) = definitions.and_then(|all| all.get(&next)) else { return true };
        for reference in references(definition) {
            if reference == name {
                return true;
            }
            if !seen.contains(&reference) {
                seen.push(reference.clone());
                pending.push(reference);
            }
        }
    }
    false
}

/// Returns the Rust path of a definition, or its name in schemars.
fn type_name<'b>(converter: &'b Converter<'_>, name: &'b str) -> &'b str {
    let definition = converter.document.get("$defs").and_then(|all| all.get(name));
    definition.and_then(|definition| definition.get(Extension::RustType.name())?.as_str()).unwrap_or(name)
}

fn cycle(converter: &Converter<'_>, name: &str) -> String {
    let from = converter.open_references.iter().position(|open| open == name).unwrap_or(0);
    let cycle: Vec<&str> = converter.open_references[from..]
        .iter()
        .map(String::as_str)
        .chain([name])
        .map(|name| type_name(converter, name))
        .collect();
    let cycle = cycle.join("` → `");
    format!(
        "`{cycle}` is recursive, and a structural schema has no references; set the number of expanded levels with \
         `#[schema(depth = N)]`, or break the cycle with `serde_json::Value`"
    )
}

fn merge_alternatives(converter: &mut Converter<'_>, node: &Node, flattened: &mut Flattened, at: &Location) {
    for key in ["oneOf", "anyOf"] {
        let Some(alternatives) = node.get(key).and_then(Value::as_array) else { continue };
        let (nulls, alternatives): (Vec<&Value>, Vec<&Value>) =
            alternatives.iter().partition(|alternative| is_null(alternative));
        flattened.accepts_null |= !nulls.is_empty();
        match alternatives.as_slice() {
            [] => flattened.push_error(known_types::UNIT),
            [only] => merge_conjunct(converter, only, flattened, at),
            all if all.iter().all(|alternative| value_validation::is_value_validation(alternative)) => {
                let validations: Value =
                    all.iter().map(|alternative| value_validation::to_value_validation(alternative)).collect();
                flattened.junctors.push(Node::from_iter([(key.to_owned(), validations)]));
            }
            all => match value_validation::enum_of_constants(all) {
                Some(keywords) => flattened.merge_all(keywords),
                None => {
                    let alternatives = all.iter().map(|alternative| (*alternative).clone()).collect();
                    flattened.unions.push(Union { exactly_one: key == "oneOf", alternatives });
                }
            },
        }
    }
    match node.get("not") {
        None => {}
        Some(not) if value_validation::is_value_validation(not) => {
            flattened.junctors.push(Node::from_iter([("not".to_owned(), value_validation::to_value_validation(not))]));
        }
        Some(_) => flattened.push_error("`not` with a type has no structural schema; use a bound or a plain type"),
    }
}

/// Merges the keywords of a node.
fn merge_keywords(converter: &mut Converter<'_>, node: &Node, flattened: &mut Flattened) {
    let owner = node
        .get(Extension::RustType.name())
        .cloned()
        .or_else(|| converter.open_references.last().map(|name| json!(type_name(converter, name))));
    let mut keywords = Node::new();
    for (key, value) in node {
        match key.as_str() {
            "$ref" | "allOf" | "anyOf" | "oneOf" | "not" => {}
            key if let Some(extension) = Extension::from_name(key) => merge_extension(flattened, extension, value),
            key if key.starts_with("x-kubewright-") => {
                flattened.push_error(format!("unknown extension `{key}`; correct its name or remove it"));
            }
            key if IGNORED.contains(&key) => {}
            key if !is_well_formed(key, value) => {
                flattened.push_error(format!("invalid value {value} of `{key}`; correct it"))
            }
            "title" if node.contains_key("$schema") => {}
            "properties" => flattened.merge("properties", with_owner(value, owner.as_ref())),
            "const" => drop(keywords.insert("enum".to_owned(), json!([value]))),
            "nullable" | "x-kubernetes-embedded-resource" | INT_OR_STRING | PRESERVE if value == &json!(false) => {}
            "examples" => keywords.extend(value.get(0).map(|example| ("example".to_owned(), example.clone()))),
            "uniqueItems" => flattened.unique_items |= value == &json!(true),
            "additionalProperties" | "unevaluatedProperties" if value == &json!(false) => {}
            // The fields that no conjunct declares, such as those of a flattened map beside a flattened enum.
            "unevaluatedProperties" => flattened.merge("additionalProperties", value.clone()),
            "patternProperties" => map_keys::pattern_properties(value, &mut keywords, flattened),
            "propertyNames" => map_keys::property_names(value, flattened),
            "dependentRequired" => map_keys::dependent_required(value, flattened),
            "prefixItems" => flattened.push_error(known_types::TUPLE),
            _ => drop(keywords.insert(key.clone(), value.clone())),
        }
    }
    if node.contains_key(Extension::RustType.name()) && is_bare_object(node) {
        flattened.extensions.insert(Extension::Empty, json!(true));
    }
    remove_null(&mut keywords, flattened);
    number::convert_exclusive_bounds(&mut keywords);
    number::convert_format(&mut keywords, flattened);
    known_types::remove_unsupported_format(&mut keywords, flattened);
    flattened.merge_all(keywords);
    if let Some(Value::Object(overrides)) = node.get(Extension::Instead.name()) {
        flattened.node.extend(overrides.clone());
    }
}

/// Whether a keyword has a value of the right type.
fn is_well_formed(key: &str, value: &Value) -> bool {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match key {
        "type" => is_type(value) || value.as_array().is_some_and(|types| types.iter().all(is_type)),
        "description" | "title" | "format" | "pattern" | "x-kubernetes-list-type" | "x-kubernetes-map-type" => {
            value.is_string()
        }
        "maximum" | "minimum" | "multipleOf" => value.is_number(),
        "exclusiveMaximum" | "exclusiveMinimum" => value.is_number() || value.is_boolean(),
        "maxItems" | "maxLength" | "maxProperties" | "minItems" | "minLength" | "minProperties" => value.is_u64(),
        "enum" | "x-kubernetes-validations" => value.is_array(),
        "required" | "x-kubernetes-list-map-keys" => {
            value.as_array().is_some_and(|all| all.iter().all(Value::is_string))
        }
        "nullable" | "x-kubernetes-embedded-resource" | "x-kubernetes-int-or-string" | PRESERVE => value.is_boolean(),
        "properties" | "patternProperties" => value.is_object(),
        "items" | "additionalProperties" | "unevaluatedProperties" => value.is_object() || value.is_boolean(),
        _ => true,
    }
}

fn is_true(schema: &Value, key: &str) -> bool {
    find(schema, key) == Some(&json!(true))
}

fn is_true_here(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&json!(true))
}

/// Returns the names of the definitions that a schema refers to.
fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(node) => {
            let reference = node.get("$ref").and_then(Value::as_str).map(definition_name);
            reference.into_iter().chain(node.values().flat_map(references)).collect()
        }
        Value::Array(all) => all.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// Returns the name of the definition that a reference points to.
fn definition_name(reference: &str) -> String {
    reference.rsplit('/').next().map(percent_decode).unwrap_or_default().replace("~1", "/").replace("~0", "~")
}

/// Decodes a percent-encoded URL fragment.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        let mut ahead = rest.clone();
        match (byte, ahead.next().and_then(hex), ahead.next().and_then(hex)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether an object specifies no fields. That of a Rust type has none, while a manual schema can mean any object.
fn is_bare_object(node: &Node) -> bool {
    let below = ["properties", "additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf"];
    node.get("type") == Some(&json!("object")) && below.iter().all(|key| !node.contains_key(*key))
}

/// Accepts any value of the type, at the last level of a recursive type.
fn accept_any(definition: &Value, flattened: &mut Flattened) {
    if definition.get("properties").is_some() || definition.get("type") == Some(&json!("object")) {
        flattened.merge("type", json!("object"));
    }
    flattened.merge(PRESERVE, json!(true));
}

pub(super) fn is_null(schema: &Value) -> bool {
    let is = |key: &str, value: Value| schema.get(key) == Some(&value);
    is("type", json!("null")) || is("const", Value::Null) || is("enum", json!([null]))
}

/// Adds the Rust type that declares the properties.
fn with_owner(properties: &Value, owner: Option<&Value>) -> Value {
    let mut properties = properties.clone();
    if let (Some(owner), Value::Object(properties)) = (owner, &mut properties) {
        for schema in properties.values_mut() {
            match schema {
                Value::Object(schema) => {
                    schema.entry(Extension::RustOwner.name()).or_insert_with(|| owner.clone());
                }
                Value::Bool(true) => *schema = json!({ Extension::RustOwner.name(): owner }),
                _ => {}
            }
        }
    }
    properties
}

/// Merges the extension of a type with that of a field: lists are concatenated, constraints of items are combined, and
/// for all others that of the field has precedence. Extensions that are read from the schema itself are left out.
fn merge_extension(flattened: &mut Flattened, extension: Extension, value: &Value) {
    match extension {
        Extension::RustType | Extension::RustField | Extension::RustOwner => return,
        Extension::Schemaless | Extension::Depth | Extension::Instead => return,
        Extension::RustVariant => {
            flattened.variant = value.as_str().map(str::to_owned);
            return;
        }
        _ => {}
    }
    match (flattened.extensions.get_mut(&extension), value) {
        (Some(known), value) if extension == Extension::Each => *known = json!({"allOf": [known.take(), value]}),
        (Some(Value::Array(known)), Value::Array(more)) => {
            known.extend(more.iter().filter(|item| !item.is_null()).cloned());
        }
        _ => drop(flattened.extensions.insert(extension, value.clone())),
    }
}

/// Converts the type and the enum to ones without null.
fn remove_null(keywords: &mut Node, flattened: &mut Flattened) {
    if let Some(Value::Array(types)) = keywords.get("type").cloned() {
        let names: Vec<&str> = types.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect();
        flattened.accepts_null |= names.len() < types.len();
        keywords.remove("type");
        match names.as_slice() {
            [only] => drop(keywords.insert("type".to_owned(), json!(only))),
            ["integer", "string"] | ["string", "integer"] => {
                drop(keywords.insert(INT_OR_STRING.to_owned(), json!(true)))
            }
            ["integer", "number"] | ["number", "integer"] => drop(keywords.insert("type".to_owned(), json!("number"))),
            [] => flattened.push_error(known_types::UNIT),
            _ => {
                flattened.push_error("a field must have a single type; use an enum with a struct variant for each type")
            }
        }
    }
    if keywords.get("type") == Some(&json!("null")) {
        keywords.remove("type");
        flattened.push_error(known_types::UNIT);
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum") {
        let all = values.len();
        values.retain(|value| !value.is_null());
        flattened.accepts_null |= values.len() < all;
        if values.is_empty() {
            keywords.remove("enum");
            flattened.push_error(known_types::UNIT);
        }
    }
}
