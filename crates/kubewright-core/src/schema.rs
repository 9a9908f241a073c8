//! Schema keywords that `#[derive(CrdSchema)]` adds to the schemars schema of types and fields, as plain data.
//!
//! The keywords and the original schema are combined in an `allOf`, so that both apply. Properties that JSON Schema
//! does not have are extension keywords with the prefix `x-kubewright-`; the generator consumes them, and the names of
//! the Rust type and its fields.

mod map_key;

use kubewright_names::{case::has_snake_case_words, extension::Extension};
use schemars::{JsonSchema, Schema, SchemaGenerator, transform::Transform};
use serde_json::{Map, Value, json};

pub use map_key::{DefaultMapKey, MapKey, NotMapKey};

use crate::meta::Location;

/// A type with a schema. Its impl for every type with schemars' `JsonSchema` is for the message about all others.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema",
    label = "this type does not derive `CrdSchema`",
    note = "derive `CrdSchema` on it, or `ApiType` or `ApiObject`, which include it",
    note = "for a type of another crate, add `#[schemars(with = \"String\")]` with a type of its encoding to the field, or use the counterpart in Kubernetes, such as k8s-openapi's `Time` for a time; a `ByteString` needs `#[schemars(with = \"String\", extend(\"format\" = \"byte\"))]`"
)]
pub trait HasSchema {
    /// Returns its schema.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + ?Sized> HasSchema for T {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A JSON value as a constant.
#[derive(Clone, Copy, Debug)]
pub enum Json {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// An integer beyond the range of `i64`.
    Unsigned(u64),
    /// Any other number.
    Float(f64),
    /// A string.
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
            Json::Unsigned(value) => value.into(),
            Json::Float(value) => value.into(),
            Json::Text(value) => value.into(),
            Json::List(values) => values.iter().copied().map(Value::from).collect(),
            Json::Object(fields) => fields.iter().map(|(name, value)| (*name, Value::from(*value))).collect(),
        }
    }
}

/// A transform that adds schema keywords to the schema of a field.
#[derive(Clone, Copy, Debug)]
pub struct FieldSchema(pub &'static [(&'static str, Json)]);

impl Transform for FieldSchema {
    fn transform(&mut self, schema: &mut Schema) {
        add(schema, Json::Object(self.0).into());
    }
}

/// A transform that removes the default of a field if it is a zero value. Such a value is absent in JSON, because serde
/// skips it.
#[derive(Clone, Copy, Debug)]
pub struct WithoutZeroDefault;

impl Transform for WithoutZeroDefault {
    fn transform(&mut self, schema: &mut Schema) {
        if schema.get("default").is_some_and(is_zero) {
            schema.remove("default");
        }
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(value) => value.as_f64() == Some(0.0),
        Value::String(value) => value.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Returns the description of a doc comment: trimmed, and with the line endings of Unix.
pub fn description(docs: &str) -> String {
    docs.trim().replace("\r\n", "\n")
}

/// A transform that adds schema keywords to the schema of a type.
#[derive(Clone, Copy, Debug)]
pub struct TypeSchema {
    /// The Rust path of the type.
    pub rust_type: &'static str,
    /// The source file of the type.
    pub file: &'static str,
    /// Its fields that are properties in JSON, including those of variants.
    pub fields: &'static [Field],
    /// Whether the schema has the fields of flattened types beside its own.
    pub flattens: bool,
    /// The schema keywords of the type itself.
    pub keywords: &'static [(&'static str, Json)],
    /// The unions of fields.
    pub one_of: &'static [OneOf],
}

/// A field of a type.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The Rust name.
    pub name: &'static str,
    /// The JSON name of `#[serde(rename = "..")]`.
    pub rename: Option<&'static str>,
    /// Whether the JSON name is explicit: by `rename`, or by a case convention of the type or variant.
    pub is_renamed: bool,
    /// The line of the field.
    pub line: u32,
}

/// A union of fields, of which a limited number can be set.
#[derive(Clone, Copy, Debug)]
pub struct OneOf {
    /// The number of fields that can be set.
    pub count: Count,
    /// The Rust names of the fields.
    pub fields: &'static [&'static str],
    /// Whether the structure of the schema validates it, instead of a CEL rule.
    pub structural: bool,
}

/// The number of fields of a union that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Exactly one.
    Exactly,
    /// At most one.
    AtMost,
    /// At least one.
    AtLeast,
}

impl Transform for TypeSchema {
    fn transform(&mut self, schema: &mut Schema) {
        let mut keywords: Map<String, Value> =
            self.keywords.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        let mut rules = Vec::new();
        if let (true, Some(Value::Object(properties))) = (self.flattens, schema.get_mut("properties")) {
            self.mark_duplicates(properties);
        }
        for fields in objects(schema.ensure_object()) {
            let required = required(fields);
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                rules.extend(self.transform_properties(properties, &required));
            }
        }
        let names = self.json_names(schema);
        for one_of in self.one_of {
            one_of.add_to(&names, &mut keywords, &mut rules);
        }
        for fields in objects(schema.ensure_object()) {
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                mark_names_without_escape(properties, &rules);
            }
        }
        if !rules.is_empty() {
            let validations = keywords.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
            validations.as_array_mut().into_iter().for_each(|validations| validations.append(&mut rules));
        }
        if !keywords.is_empty() {
            add(schema, Value::Object(keywords));
        }
        schema.insert(Extension::RustType.name().to_owned(), self.rust_type.into());
    }
}

impl TypeSchema {
    /// Adds the Rust name to each property, and returns the rules of its fields for the enclosing object.
    fn transform_properties(&self, properties: &mut Map<String, Value>, required: &[String]) -> Vec<Value> {
        let names: Vec<String> = properties.keys().cloned().collect();
        let mut rules = Vec::new();
        for (name, property) in properties {
            let Some(schema) = property.as_object_mut() else { continue };
            if take_keyword(schema, Extension::Immutable.name())
                && !required.contains(name)
                && !schema.contains_key("default")
            {
                rules.push(rule_against_removal(name, "is immutable: it cannot be removed"));
            }
            rules.extend(presence_rules(name, schema));
            for keyword in [DEPENDENT_REQUIRED, DEPENDENT_FORBIDDEN] {
                let others = texts(take_value(schema, keyword));
                rules.extend(
                    others
                        .iter()
                        .filter_map(|field| Some(dependence_rule(keyword, name, self.json_name(field, &names)?))),
                );
            }
            if let Some(field) = self.field(name) {
                self.describe(schema, name, field);
            }
        }
        rules
    }

    /// Marks the fields of a struct whose JSON name is also that of a field of a flattened type: it was described
    /// before.
    fn mark_duplicates(&self, properties: &mut Map<String, Value>) {
        let is_described = |schema: &Value| schema.get(LOCATION).is_some();
        let names: Vec<String> = properties.keys().cloned().collect();
        for name in &names {
            let Some(field) = self.field(name) else { continue };
            // The names of other fields can consist of the same words.
            let is_own = |other: &String| self.field(other).is_some_and(|known| known.name == field.name);
            let is_duplicate = names.iter().filter(|other| is_own(other)).all(|other| is_described(&properties[other]));
            if let (true, Some(schema)) = (is_duplicate, properties.get_mut(name).and_then(Value::as_object_mut)) {
                let other = schema.get(LOCATION).and_then(Value::as_str).unwrap_or_default();
                let message = format!(
                    "a flattened type has a field of this JSON name, too ({other}), so that it is encoded twice and \
                     cannot be decoded; rename one"
                );
                schema.insert(REJECTED.to_owned(), message.into());
            }
        }
    }

    /// Adds the Rust name and the location of the field, and a mark for a name that is in snake case by accident,
    /// because `rename_all` is missing.
    fn describe(&self, schema: &mut Map<String, Value>, json_name: &str, field: &Field) {
        schema.insert(Extension::RustField.name().to_owned(), field.name.into());
        let location = Location { file: self.file, line: field.line };
        schema.insert(LOCATION.to_owned(), location.to_string().into());
        if !field.is_renamed && has_snake_case_words(json_name) {
            schema.insert(Extension::SnakeCase.name().to_owned(), format!("{}.{}", self.rust_type, field.name).into());
        }
    }

    /// Returns the field with this JSON name. The case conventions of serde change only case and separators.
    fn field(&self, json_name: &str) -> Option<&'static Field> {
        let letters = |name: &str| name.replace(['_', '-'], "").to_lowercase();
        let renamed = self.fields.iter().find(|field| field.rename == Some(json_name));
        let derived =
            || self.fields.iter().find(|field| field.rename.is_none() && letters(field.name) == letters(json_name));
        renamed.or_else(derived)
    }

    /// Returns the JSON name of a field, among those of the properties.
    fn json_name<'a>(&self, field: &str, names: &'a [String]) -> Option<&'a str> {
        names.iter().find(|name| self.field(name).is_some_and(|known| known.name == field)).map(String::as_str)
    }

    /// Returns the JSON names of the properties by their Rust names.
    fn json_names(&self, schema: &Schema) -> Vec<(&'static str, String)> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let named = |name: &String| Some((self.field(name)?.name, name.clone()));
        properties.into_iter().flat_map(Map::keys).filter_map(named).collect()
    }
}

impl OneOf {
    fn add_to(&self, names: &[(&'static str, String)], keywords: &mut Map<String, Value>, rules: &mut Vec<Value>) {
        let json_name =
            |field: &&str| names.iter().find(|(rust_name, _)| rust_name == field).map(|(_, name)| name.clone());
        let fields: Vec<String> = self.fields.iter().filter_map(json_name).collect();
        match self.structural {
            true => self.add_structure(&fields, keywords),
            false => rules.push(self.rule(&fields)),
        }
    }

    fn add_structure(&self, fields: &[String], keywords: &mut Map<String, Value>) {
        let each: Vec<Value> = fields.iter().map(|field| json!({"required": [field]})).collect();
        let pairs = || {
            let others = |i: usize| fields[i + 1..].iter().map(move |other| json!({"required": [fields[i], other]}));
            (0..fields.len()).flat_map(others).collect::<Vec<Value>>()
        };
        let (keyword, value) = match self.count {
            Count::Exactly => ("oneOf", json!(each)),
            Count::AtLeast => ("anyOf", json!(each)),
            Count::AtMost => ("not", json!({"anyOf": pairs()})),
        };
        keywords.insert(keyword.to_owned(), value);
    }

    fn rule(&self, fields: &[String]) -> Value {
        // The estimated cost of a macro over a list of conditions exceeds the budget in an unbounded list.
        let is_set: Vec<String> = fields.iter().map(|field| format!("(has(self.{}) ? 1 : 0)", escape(field))).collect();
        let (count, wording) = match self.count {
            Count::Exactly => ("== 1", "exactly one"),
            Count::AtMost => ("<= 1", "at most one"),
            Count::AtLeast => (">= 1", "at least one"),
        };
        json!({
            "rule": format!("{} {count}", is_set.join(" + ")),
            "message": format!("{wording} of {} must be set", fields.join(", ")),
        })
    }
}

/// Marks the fields in generated rules whose names CEL cannot access.
fn mark_names_without_escape(properties: &mut Map<String, Value>, rules: &[Value]) {
    for (name, property) in properties {
        let is_used = |rule: &Value| rule["rule"].as_str().is_some_and(|text| text.contains(&format!("elf.{name})")));
        if kubewright_names::cel::escape(name).is_none()
            && rules.iter().any(is_used)
            && let Some(schema) = property.as_object_mut()
        {
            let message = format!(
                "rules in CEL, such as the one that an immutable field cannot be removed, cannot access a field with \
                 the JSON name `{name}`; rename it to letters, digits, `_`, `-`, `.` and `/`"
            );
            schema.insert(REJECTED.to_owned(), message.into());
        }
    }
}

/// The extension keyword of a property with what is wrong.
const REJECTED: &str = Extension::Rejected.name();
/// The extension keyword of a property with the source file and line of its Rust field.
const LOCATION: &str = Extension::Location.name();
/// The extension keywords of fields with the Rust names of other fields.
const DEPENDENT_REQUIRED: &str = Extension::DependentRequired.name();
const DEPENDENT_FORBIDDEN: &str = Extension::DependentForbidden.name();

/// Returns the rule that an optional field cannot be removed once it is set.
fn rule_against_removal(field: &str, message: &str) -> Value {
    let name = escape(field);
    json!({"rule": format!("!has(oldSelf.{name}) || has(self.{name})"), "message": format!("{field} {message}")})
}

/// Returns the rules of a field that updates cannot set or unset. The other updates are rules of the field itself.
fn presence_rules(field: &str, schema: &mut Map<String, Value>) -> Vec<Value> {
    let name = escape(field);
    let rule = |update: String| match update.as_str() {
        "no_set" => Some(json!({
            "rule": format!("has(oldSelf.{name}) || !has(self.{name})"),
            "message": format!("{field} cannot be set by an update"),
        })),
        "no_unset" => Some(rule_against_removal(field, "cannot be removed")),
        _ => None,
    };
    texts(take_value(schema, Extension::Update.name())).into_iter().filter_map(rule).collect()
}

/// Returns the rule of a field about another one.
fn dependence_rule(keyword: &str, field: &str, other: &str) -> Value {
    let (name, other_name) = (escape(field), escape(other));
    let (condition, wording) = match keyword == DEPENDENT_REQUIRED {
        true => (format!("has(self.{other_name})"), "is required"),
        false => (format!("!has(self.{other_name})"), "must not be set"),
    };
    json!({"rule": format!("!has(self.{name}) || {condition}"), "message": format!("{other} {wording} beside {field}")})
}

fn texts(value: Option<Value>) -> Vec<String> {
    let values = value.as_ref().and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Escapes the name of a field for CEL. A name without an escape is not valid in a rule, which the generator reports.
fn escape(field: &str) -> String {
    kubewright_names::cel::escape(field).unwrap_or_else(|| field.to_owned())
}

/// Combines a schema with keywords. Annotations such as the description remain outside of the `allOf`.
fn add(schema: &mut Schema, keywords: Value) {
    let object = schema.ensure_object();
    let mut outside = Map::new();
    for annotation in ["description", "title", "default", "examples"] {
        outside.extend(object.remove(annotation).map(|value| (annotation.to_owned(), value)));
    }
    let inside = std::mem::replace(object, outside);
    object.insert("allOf".to_owned(), json!([inside, keywords]));
}

/// Removes an extension keyword of a field that is for the enclosing object, and returns whether it was present.
fn take_keyword(schema: &mut Map<String, Value>, keyword: &str) -> bool {
    take_value(schema, keyword).is_some()
}

/// Removes an extension keyword of a field, likewise, and returns its value.
fn take_value(schema: &mut Map<String, Value>, keyword: &str) -> Option<Value> {
    let keywords = schema.get_mut("allOf").and_then(|all| all.get_mut(1)).and_then(Value::as_object_mut);
    keywords?.remove(keyword)
}

/// Returns the object schemas with the fields of a type: its own, or those of its variants.
fn objects(schema: &mut Map<String, Value>) -> Vec<&mut Map<String, Value>> {
    if schema.contains_key("properties") {
        return vec![schema];
    }
    let mut found = Vec::new();
    for keyword in ["oneOf", "anyOf"] {
        if schema.contains_key(keyword) {
            let variants = schema.get_mut(keyword).and_then(Value::as_array_mut);
            for variant in variants.into_iter().flatten().filter_map(Value::as_object_mut) {
                found.extend(variant_objects(variant));
            }
            return found;
        }
    }
    found
}

/// Returns the object schemas of a variant: itself if it is internally tagged, or that of the property with its name.
fn variant_objects(variant: &mut Map<String, Value>) -> Vec<&mut Map<String, Value>> {
    let properties = variant.get("properties").and_then(Value::as_object);
    let is_named = properties.is_some_and(|properties| {
        properties.len() == 1 && properties.values().all(|property| property.get("properties").is_some())
    });
    if !is_named {
        return vec![variant];
    }
    let properties = variant.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(|properties| properties.values_mut().filter_map(Value::as_object_mut)).collect()
}

/// Returns the required fields, after adding those with the extension keyword for it.
fn required(object: &mut Map<String, Value>) -> Vec<String> {
    let mut required: Vec<String> = object
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let before = required.len();
    for (name, property) in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if property.as_object_mut().is_some_and(|schema| take_keyword(schema, Extension::Required.name()))
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
