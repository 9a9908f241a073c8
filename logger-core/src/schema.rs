//! What `#[derive(KubeSchema)]` adds to the schema that schemars makes: facts of types and fields, as plain data.
//!
//! A fact stands in an `allOf` beside the schema it is about, so that both hold. What JSON Schema has no word for stands
//! there under `x-logger-`; the generator takes it out again, with the names of the Rust type and its fields.

use schemars::Schema;
use schemars::transform::Transform;
use serde_json::{Map, Value, json};

/// JSON as a constant.
#[derive(Clone, Copy, Debug)]
pub enum Json {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(&'static str),
    /// A list.
    List(&'static [Json]),
    /// An object.
    Object(&'static [(&'static str, Json)]),
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Bool(value) => value.into(),
            Json::Integer(value) => value.into(),
            Json::Float(value) => value.into(),
            Json::Text(value) => value.into(),
            Json::List(values) => values.iter().copied().map(Value::from).collect(),
            Json::Object(fields) => fields.iter().map(|(name, value)| (*name, Value::from(*value))).collect(),
        }
    }
}

/// The facts of a field, beside what its type says.
#[derive(Clone, Copy, Debug)]
pub struct Field(pub &'static [(&'static str, Json)]);

impl Transform for Field {
    fn transform(&mut self, schema: &mut Schema) {
        add(schema, Json::Object(self.0).into());
    }
}

/// The facts of a type, beside what schemars makes of it.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// The path of the type.
    pub rust_type: &'static str,
    /// Its fields (those of its variants too): the name in Rust and, where serde is told another, that in JSON.
    pub fields: &'static [(&'static str, Option<&'static str>)],
    /// What is said of the type itself.
    pub facts: &'static [(&'static str, Json)],
    /// The fields of which one, at least one or at most one must be there, by their names in Rust.
    pub one_of: &'static [OneOf],
}

/// How many of some fields may be there.
#[derive(Clone, Copy, Debug)]
pub struct OneOf {
    /// How many.
    pub count: Count,
    /// The fields, by their names in Rust.
    pub fields: &'static [&'static str],
    /// Whether the schema says it by its structure, and not by a CEL rule.
    pub by_structure: bool,
}

/// How many of some fields may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One and no other.
    Exactly,
    /// One or none.
    AtMost,
    /// One or more.
    AtLeast,
}

impl Transform for Declared {
    fn transform(&mut self, schema: &mut Schema) {
        let mut facts: Map<String, Value> =
            self.facts.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        let mut rules = Vec::new();
        for fields in objects(schema.ensure_object()) {
            let required = required(fields);
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                rules.extend(self.properties(properties, &required));
            }
        }
        let names = self.json_names(schema);
        for one_of in self.one_of {
            one_of.say(&names, &mut facts, &mut rules);
        }
        if !rules.is_empty() {
            let said = facts.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
            said.as_array_mut().into_iter().for_each(|said| said.append(&mut rules));
        }
        if !facts.is_empty() {
            add(schema, Value::Object(facts));
        }
        schema.insert("x-rust-type".to_owned(), self.rust_type.into());
    }
}

impl Declared {
    /// Names each property's field, and says what a field asks of the object it is in.
    fn properties(&self, properties: &mut Map<String, Value>, required: &[String]) -> Vec<Value> {
        let mut rules = Vec::new();
        for (name, property) in properties {
            let Some(schema) = property.as_object_mut() else { continue };
            if take_mark(schema, "x-logger-immutable") && !required.contains(name) && !schema.contains_key("default") {
                rules.push(stays(name));
            }
            if let Some(field) = self.rust_name(name) {
                schema.insert("x-rust-field".to_owned(), field.into());
            }
        }
        rules
    }

    /// The field of this JSON name. serde's rules for renaming all change case and separators only.
    fn rust_name(&self, json_name: &str) -> Option<&'static str> {
        let letters = |name: &str| name.replace(['_', '-'], "").to_lowercase();
        let said = self.fields.iter().find(|(_, renamed)| *renamed == Some(json_name));
        let derived =
            || self.fields.iter().find(|(field, renamed)| renamed.is_none() && letters(field) == letters(json_name));
        said.or_else(derived).map(|(field, _)| *field)
    }

    /// The names of the properties, by the fields they are.
    fn json_names(&self, schema: &Schema) -> Vec<(&'static str, String)> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let named = |name: &String| Some((self.rust_name(name)?, name.clone()));
        properties.into_iter().flat_map(Map::keys).filter_map(named).collect()
    }
}

impl OneOf {
    fn say(&self, names: &[(&'static str, String)], facts: &mut Map<String, Value>, rules: &mut Vec<Value>) {
        let json_name = |field: &&str| names.iter().find(|(of, _)| of == field).map(|(_, name)| name.clone());
        let fields: Vec<String> = self.fields.iter().filter_map(json_name).collect();
        match self.by_structure {
            true => self.as_structure(&fields, facts),
            false => rules.push(self.as_rule(&fields)),
        }
    }

    fn as_structure(&self, fields: &[String], facts: &mut Map<String, Value>) {
        let each: Vec<Value> = fields.iter().map(|field| json!({"required": [field]})).collect();
        let pairs = || {
            let others = |i: usize| fields[i + 1..].iter().map(move |other| json!({"required": [fields[i], other]}));
            (0..fields.len()).flat_map(others).collect::<Vec<Value>>()
        };
        let (word, value) = match self.count {
            Count::Exactly => ("oneOf", json!(each)),
            Count::AtLeast => ("anyOf", json!(each)),
            Count::AtMost => ("not", json!({"anyOf": pairs()})),
        };
        facts.insert(word.to_owned(), value);
    }

    fn as_rule(&self, fields: &[String]) -> Value {
        let there: Vec<String> = fields.iter().map(|field| format!("has(self.{})", escaped(field))).collect();
        let (count, words) = match self.count {
            Count::Exactly => ("== 1", "exactly one"),
            Count::AtMost => ("<= 1", "at most one"),
            Count::AtLeast => (">= 1", "at least one"),
        };
        json!({
            "rule": format!("[{}].filter(x, x).size() {count}", there.join(", ")),
            "message": format!("{words} of {} must be set", fields.join(", ")),
        })
    }
}

/// That an optional field, once set, is not removed.
fn stays(field: &str) -> Value {
    let name = escaped(field);
    json!({
        "rule": format!("!has(oldSelf.{name}) || has(self.{name})"),
        "message": format!("{field} is immutable: it cannot be removed"),
    })
}

/// A field's name as CEL has it, by the API server's rules: `namespace` is `__namespace__`, and `-` is `__dash__`.
fn escaped(field: &str) -> String {
    const RESERVED: [&str; 21] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    if RESERVED.contains(&field) {
        return format!("__{field}__");
    }
    field.replace("__", "__underscores__").replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__")
}

/// Puts facts beside a schema. What is said for people stays outside, once.
fn add(schema: &mut Schema, facts: Value) {
    let object = schema.ensure_object();
    let mut outside = Map::new();
    for word in ["description", "title", "default", "examples"] {
        outside.extend(object.remove(word).map(|value| (word.to_owned(), value)));
    }
    let inside = std::mem::replace(object, outside);
    object.insert("allOf".to_owned(), json!([inside, facts]));
}

/// Whether the facts of a field say this, to the object it is in.
fn take_mark(schema: &mut Map<String, Value>, mark: &str) -> bool {
    let facts = schema.get_mut("allOf").and_then(|all| all.get_mut(1)).and_then(Value::as_object_mut);
    facts.and_then(|facts| facts.remove(mark)).is_some()
}

/// The objects with the fields of a type: itself, or each of its variants.
fn objects(schema: &mut Map<String, Value>) -> Vec<&mut Map<String, Value>> {
    if schema.contains_key("properties") {
        return vec![schema];
    }
    let mut found = Vec::new();
    for word in ["oneOf", "anyOf"] {
        if schema.contains_key(word) {
            let variants = schema.get_mut(word).and_then(Value::as_array_mut);
            for variant in variants.into_iter().flatten().filter_map(Value::as_object_mut) {
                found.extend(variant_objects(variant));
            }
            return found;
        }
    }
    found
}

/// A variant's fields: beside its tag, or in the one property that is its name.
fn variant_objects(variant: &mut Map<String, Value>) -> Vec<&mut Map<String, Value>> {
    let properties = variant.get("properties").and_then(Value::as_object);
    let is_named = properties.is_some_and(|properties| {
        properties.len() == 1 && properties.values().all(|of| of.get("properties").is_some())
    });
    if !is_named {
        return vec![variant];
    }
    let properties = variant.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(|properties| properties.values_mut().filter_map(Value::as_object_mut)).collect()
}

/// The names of the fields that must be there, with those whose facts say so added.
fn required(object: &mut Map<String, Value>) -> Vec<String> {
    let mut required: Vec<String> = object
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let before = required.len();
    for (name, property) in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if property.as_object_mut().is_some_and(|schema| take_mark(schema, "x-logger-required"))
            && !required.contains(name)
        {
            required.push(name.clone());
        }
    }
    if required.len() > before {
        object.insert("required".to_owned(), json!(required));
    }
    required
}
