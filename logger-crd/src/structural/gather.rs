//! What all the conjuncts of one node say: its own keywords, the types it refers to, and facts beside them.

use serde_json::{Value, json};

use super::place::{OWNER, Place, TYPE, VARIANT, find};
use super::{INT_OR_STRING, Node, PRESERVE, Pass, branch, keys, known, number, overlay, union};

/// Keywords that say nothing to the server.
const SILENT: &[&str] = &[
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

/// What one node says, before it is settled.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// Keywords of the server's schema. Those below `properties`, `items` and `additionalProperties` are as they were given.
    pub(super) node: Node,
    /// Alternatives that must still be made one node.
    pub(super) unions: Vec<union::Union>,
    /// `oneOf`, `anyOf` and `not` that only restrict, one each.
    pub(super) junctors: Vec<Node>,
    /// Private marks.
    pub(super) marks: Node,
    /// A null is a value of the type, as of an `Option`.
    pub(super) null: bool,
    /// No item occurs twice.
    pub(super) unique: bool,
    /// The name of the Rust variant, of an alternative.
    pub(super) variant: Option<String>,
    /// What no structural schema can say.
    pub(super) problems: Vec<String>,
}

impl Said {
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.node.get(key)
    }

    pub(super) fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(message.into());
    }
}

impl Pass<'_> {
    /// What a schema says. References that are followed stay open, so that a type that contains itself is found.
    pub(super) fn gather(&mut self, schema: &Value, at: &Place) -> Said {
        let mut said = Said::default();
        if is_true(schema, "x-logger-schemaless") {
            let description = find(schema, "description").cloned();
            said.node.extend(description.map(|text| ("description".to_owned(), text)));
            let facts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
            for facts in facts.filter(|facts| is_true_here(facts, "x-logger-schemaless")) {
                self.conjunct(facts, &mut said, at);
            }
            said.marks.insert("x-logger-schemaless".to_owned(), json!(true));
            return said;
        }
        self.conjunct(schema, &mut said, at);
        said
    }

    /// Adds what one conjunct says: the type it refers to first, its own facts last, so that these win.
    pub(super) fn conjunct(&mut self, schema: &Value, said: &mut Said, at: &Place) {
        let node = match schema {
            Value::Object(node) => node,
            Value::Bool(true) => return,
            Value::Bool(false) => return said.problem("no value is allowed here, so it cannot be part of an API"),
            _ => return said.problem("its schema is neither an object nor a boolean; correct the `JsonSchema` it has"),
        };
        let deeper = Place { level: at.level + 1, ..at.clone() };
        if !self.has_room(&deeper) {
            return;
        }
        if let Some(reference) = node.get("$ref") {
            self.reference(reference.as_str().unwrap_or_default(), said, &deeper);
        }
        for conjunct in node.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.conjunct(conjunct, said, &deeper);
        }
        self.alternatives(node, said, &deeper);
        self.keywords(node, said);
    }

    /// Puts a definition in place of the reference to it.
    fn reference(&mut self, reference: &str, said: &mut Said, at: &Place) {
        let document = self.document;
        let pointer = reference.strip_prefix('#').map(decoded);
        let Some(definition) = pointer.as_deref().and_then(|pointer| document.pointer(pointer)) else {
            return said
                .problem(format!("its schema refers to `{reference}`, which is not there; pass it among `$defs`"));
        };
        let name = reference.rsplit('/').next().map(decoded).unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let name = match name.as_str() {
            "#" => {
                definition.get(TYPE).or(definition.get("title")).and_then(Value::as_str).unwrap_or("Self").to_owned()
            }
            _ => name,
        };
        let before = self.open.iter().filter(|open| **open == name).count();
        match at.with_depth_of(definition).depth {
            _ if before == 0 => {}
            Some(depth) if before < depth => {}
            Some(_) => return cut(definition, said),
            None => return said.problem(self.cycle(&name)),
        }
        self.open.push(name.clone());
        match known::type_of(&name, self.options) {
            Some(known) => self.conjunct(&known, said, at),
            None => match overlay::applied(&name, definition) {
                Some(definition) => self.conjunct(&definition, said, at),
                None => self.conjunct(definition, said, at),
            },
        }
    }

    /// The Rust path of a definition, or what schemars calls it.
    fn shown<'b>(&'b self, name: &'b str) -> &'b str {
        let definition = self.document.get("$defs").and_then(|all| all.get(name));
        definition.and_then(|definition| definition.get(TYPE)?.as_str()).unwrap_or(name)
    }

    fn cycle(&self, name: &str) -> String {
        let from = self.open.iter().position(|open| open == name).unwrap_or(0);
        let cycle: Vec<&str> =
            self.open[from..].iter().map(String::as_str).chain([name]).map(|name| self.shown(name)).collect();
        let cycle = cycle.join("` → `");
        format!(
            "`{cycle}` contains itself, and a structural schema has no references; say with `#[schema(depth = N)]` how many \
             levels are spelled out, or break the cycle with `serde_json::Value`"
        )
    }

    fn alternatives(&mut self, node: &Node, said: &mut Said, at: &Place) {
        for key in ["oneOf", "anyOf"] {
            let Some(alternatives) = node.get(key).and_then(Value::as_array) else { continue };
            let (nulls, alternatives): (Vec<&Value>, Vec<&Value>) = alternatives.iter().partition(|one| is_null(one));
            said.null |= !nulls.is_empty();
            match alternatives.as_slice() {
                [] => said.problem(known::UNIT),
                [only] => self.conjunct(only, said, at),
                all if all.iter().all(|one| branch::is_pure(one)) => {
                    let pure: Value = all.iter().map(|one| branch::tidy(one)).collect();
                    said.junctors.push(Node::from_iter([(key.to_owned(), pure)]));
                }
                all => match branch::words(all) {
                    Some(words) => said.meet_all(words),
                    None => said.unions.push(union::Union::new(key, all)),
                },
            }
        }
        match node.get("not") {
            None => {}
            Some(not) if branch::is_pure(not) => {
                said.junctors.push(Node::from_iter([("not".to_owned(), branch::tidy(not))]));
            }
            Some(_) => {
                said.problem("a value that must not be something has no structural schema; use a bound or a plain type")
            }
        }
    }

    /// The keywords of a node itself.
    fn keywords(&mut self, node: &Node, said: &mut Said) {
        let owner = node.get(TYPE).cloned().or_else(|| self.open.last().map(|name| json!(self.shown(name))));
        let mut own = Node::new();
        for (key, value) in node {
            match key.as_str() {
                "$ref" | "allOf" | "anyOf" | "oneOf" | "not" | "x-logger-schemaless" | "x-logger-depth" => {}
                "x-rust-type" | "x-rust-field" | "x-rust-owner" | overlay::INSTEAD => {}
                key if SILENT.contains(&key) => {}
                key if !is_well_formed(key, value) => said.problem(format!("`{key}` cannot be {value}; correct it")),
                "title" if node.contains_key("$schema") => {}
                VARIANT => said.variant = value.as_str().map(str::to_owned),
                key if key.starts_with("x-logger-") => mark(&mut said.marks, key, value),
                "properties" => said.meet("properties", owned(value, owner.as_ref())),
                "const" => drop(own.insert("enum".to_owned(), json!([value]))),
                "nullable" | "x-kubernetes-embedded-resource" | INT_OR_STRING | PRESERVE if value == &json!(false) => {}
                "examples" => own.extend(value.get(0).map(|example| ("example".to_owned(), example.clone()))),
                "uniqueItems" => said.unique |= value == &json!(true),
                "additionalProperties" | "unevaluatedProperties" if value == &json!(false) => {}
                "patternProperties" => keys::keyed(value, &mut own, said),
                "propertyNames" => keys::key_rule(value, said),
                "dependentRequired" => keys::dependent(value, said),
                "prefixItems" => said.problem(known::TUPLE),
                _ => drop(own.insert(key.clone(), value.clone())),
            }
        }
        if node.contains_key(TYPE) && is_bare_object(node) {
            said.marks.insert(known::EMPTY.to_owned(), json!(true));
        }
        type_and_null(&mut own, said);
        number::bounds(&mut own);
        number::width(&mut own, said);
        known::format(&mut own, said);
        said.meet_all(own);
        if let Some(Value::Object(instead)) = node.get(overlay::INSTEAD) {
            said.node.extend(instead.clone());
        }
    }
}

/// Whether a keyword has a value of its kind.
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
        "items" | "additionalProperties" => value.is_object() || value.is_boolean(),
        _ => true,
    }
}

fn is_true(schema: &Value, key: &str) -> bool {
    find(schema, key) == Some(&json!(true))
}

fn is_true_here(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&json!(true))
}

/// A fragment of a URL as it was before it was made one.
fn decoded(text: &str) -> String {
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

/// Whether an object names no fields. A Rust type that does has none; a schema by hand may mean any.
fn is_bare_object(node: &Node) -> bool {
    let below = ["properties", "additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf"];
    node.get("type") == Some(&json!("object")) && below.iter().all(|key| !node.contains_key(*key))
}

/// Any value of that sort: a type that contains itself ends here.
fn cut(definition: &Value, said: &mut Said) {
    if definition.get("properties").is_some() || definition.get("type") == Some(&json!("object")) {
        said.meet("type", json!("object"));
    }
    said.meet(PRESERVE, json!(true));
}

pub(super) fn is_null(schema: &Value) -> bool {
    let is = |key: &str, value: Value| schema.get(key) == Some(&value);
    is("type", json!("null")) || is("const", Value::Null) || is("enum", json!([null]))
}

/// Properties that say which Rust type declares them.
fn owned(properties: &Value, owner: Option<&Value>) -> Value {
    let mut properties = properties.clone();
    if let (Some(owner), Value::Object(properties)) = (owner, &mut properties) {
        for schema in properties.values_mut() {
            match schema {
                Value::Object(schema) => drop(schema.entry(OWNER).or_insert_with(|| owner.clone())),
                Value::Bool(true) => *schema = json!({ OWNER: owner }),
                _ => {}
            }
        }
    }
    properties
}

/// Marks of the type and of the field: lists are joined, of items all facts hold, of all else the field's counts.
fn mark(marks: &mut Node, key: &str, value: &Value) {
    match (marks.get_mut(key), value) {
        (Some(own), value) if key == "x-logger-each" => *own = json!({"allOf": [own.take(), value]}),
        (Some(Value::Array(own)), Value::Array(more)) => own.extend(more.iter().filter(|one| !one.is_null()).cloned()),
        _ => drop(marks.insert(key.to_owned(), value.clone())),
    }
}

/// One type that is not null.
fn type_and_null(own: &mut Node, said: &mut Said) {
    if let Some(Value::Array(types)) = own.get("type").cloned() {
        let names: Vec<&str> = types.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect();
        said.null |= names.len() < types.len();
        own.remove("type");
        match names.as_slice() {
            [only] => drop(own.insert("type".to_owned(), json!(only))),
            ["integer", "string"] | ["string", "integer"] => drop(own.insert(INT_OR_STRING.to_owned(), json!(true))),
            ["integer", "number"] | ["number", "integer"] => drop(own.insert("type".to_owned(), json!("number"))),
            [] => said.problem(known::UNIT),
            _ => said.problem("a field has one type; use an enum with a struct for each form"),
        }
    }
    if own.get("type") == Some(&json!("null")) {
        own.remove("type");
        said.problem(known::UNIT);
    }
    if let Some(Value::Array(values)) = own.get_mut("enum") {
        let all = values.len();
        values.retain(|value| !value.is_null());
        said.null |= values.len() < all;
        if values.is_empty() {
            own.remove("enum");
            said.problem(known::UNIT);
        }
    }
}
