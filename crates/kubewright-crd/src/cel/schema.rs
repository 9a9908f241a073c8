//! Structural schemas, decoded as far as rules depend on them, and the rules themselves.

pub(crate) mod field_path;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A node of a structural schema: the attributes that the types, the cost and the values of rules depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structural {
    pub(crate) schema_type: SchemaType,
    pub(crate) format: String,
    pub(crate) max_length: Option<i64>,
    pub(crate) max_items: Option<i64>,
    pub(crate) max_properties: Option<i64>,
    /// The length of the longest string in `enum`, in bytes; `None` without an `enum`.
    pub(crate) max_enum_length: Option<i64>,
    pub(crate) required: Vec<String>,
    pub(crate) is_nullable: bool,
    pub(crate) has_default: bool,
    pub(crate) is_int_or_string: bool,
    pub(crate) is_embedded_resource: bool,
    pub(crate) preserves_unknown_fields: bool,
    pub(crate) list_type: ListType,
    pub(crate) list_map_keys: Vec<String>,
    pub(crate) map_type: Option<String>,
    pub(crate) items: Option<Box<Structural>>,
    /// `None` also for an empty `properties`.
    pub(crate) properties: Option<BTreeMap<String, Structural>>,
    /// The schema of `additionalProperties`. The value `true` sets [`Structural::allows_additional_properties`]
    /// instead.
    pub(crate) additional_properties: Option<Box<Structural>>,
    pub(crate) allows_additional_properties: bool,
    pub(crate) rules: Vec<ValidationRule>,
}

/// The `type` of a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SchemaType {
    /// No `type`, or an unknown one.
    #[default]
    None,
    Object,
    Array,
    String,
    Number,
    Integer,
    Boolean,
}

impl SchemaType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            SchemaType::None => "",
            SchemaType::Object => "object",
            SchemaType::Array => "array",
            SchemaType::String => "string",
            SchemaType::Number => "number",
            SchemaType::Integer => "integer",
            SchemaType::Boolean => "boolean",
        }
    }
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    Set,
    Map,
}

/// One entry of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValidationRule {
    pub(crate) rule: String,
    pub(crate) message: String,
    pub(crate) message_expression: String,
    pub(crate) reason: Option<String>,
    pub(crate) field_path: String,
    pub(crate) optional_old_self: Option<bool>,
}

impl Structural {
    /// Decodes a structural schema. Invalid attributes are ignored.
    pub(crate) fn decode(schema: &Value) -> Self {
        let Value::Object(schema) = schema else { return Structural::default() };
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        let flag = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or_default();
        let number = |key: &str| schema.get(key).and_then(Value::as_i64);
        let texts = |key: &str| -> Vec<String> { strings(schema.get(key)).map(str::to_owned).collect() };
        let additional = schema.get("additionalProperties");
        Structural {
            schema_type: schema_type(text("type")),
            format: text("format").to_owned(),
            max_length: number("maxLength"),
            max_items: number("maxItems"),
            max_properties: number("maxProperties"),
            max_enum_length: max_enum_length(schema.get("enum")),
            required: texts("required"),
            is_nullable: flag("nullable"),
            has_default: schema.get("default").is_some_and(|default| !default.is_null()),
            is_int_or_string: flag("x-kubernetes-int-or-string"),
            is_embedded_resource: flag("x-kubernetes-embedded-resource"),
            preserves_unknown_fields: flag("x-kubernetes-preserve-unknown-fields"),
            list_type: match text("x-kubernetes-list-type") {
                "set" => ListType::Set,
                "map" => ListType::Map,
                _ => ListType::Atomic,
            },
            list_map_keys: texts("x-kubernetes-list-map-keys"),
            map_type: schema.get("x-kubernetes-map-type").and_then(Value::as_str).map(str::to_owned),
            items: schema
                .get("items")
                .filter(|items| items.is_object())
                .map(|items| Box::new(Structural::decode(items))),
            properties: properties(schema),
            additional_properties: additional
                .filter(|schema| schema.is_object())
                .map(|schema| Box::new(Structural::decode(schema))),
            allows_additional_properties: additional == Some(&Value::Bool(true)),
            rules: rules(schema),
        }
    }

    pub(crate) fn string() -> Self {
        Structural { schema_type: SchemaType::String, ..Structural::default() }
    }

    pub(crate) fn property(&self, name: &str) -> Option<&Structural> {
        self.properties.as_ref()?.get(name)
    }

    /// The schema with the type information of a resource: rules may always read `apiVersion`, `kind`, `metadata.name`
    /// and `metadata.generateName`. Like the server's `WithTypeAndObjectMeta`, it replaces a `metadata` that lacks
    /// their types.
    pub(crate) fn with_type_and_object_meta(&self) -> Structural {
        let is = |schema: Option<&Structural>, schema_type: SchemaType| {
            schema.is_some_and(|schema| schema.schema_type == schema_type)
        };
        let metadata = self.property("metadata");
        let complete = is(self.property("kind"), SchemaType::String)
            && is(self.property("apiVersion"), SchemaType::String)
            && is(metadata, SchemaType::Object)
            && ["name", "generateName"]
                .iter()
                .all(|name| is(metadata.and_then(|metadata| metadata.property(name)), SchemaType::String));
        let mut schema = self.clone();
        if !complete {
            let names = ["name", "generateName"].map(|name| (name.to_owned(), Structural::string()));
            let metadata =
                Structural { schema_type: SchemaType::Object, properties: Some(names.into()), ..Structural::default() };
            let properties = schema.properties.get_or_insert_default();
            properties.insert("kind".to_owned(), Structural::string());
            properties.insert("apiVersion".to_owned(), Structural::string());
            properties.insert("metadata".to_owned(), metadata);
            schema.items = None;
        }
        schema
    }

    /// Whether this schema or one below it has rules.
    pub(crate) fn has_rules(&self) -> bool {
        let below = self.items.iter().chain(&self.additional_properties).map(|schema| &**schema);
        !self.rules.is_empty()
            || below.chain(self.properties.iter().flat_map(BTreeMap::values)).any(Structural::has_rules)
    }
}

fn schema_type(name: &str) -> SchemaType {
    match name {
        "object" => SchemaType::Object,
        "array" => SchemaType::Array,
        "string" => SchemaType::String,
        "number" => SchemaType::Number,
        "integer" => SchemaType::Integer,
        "boolean" => SchemaType::Boolean,
        _ => SchemaType::None,
    }
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn max_enum_length(values: Option<&Value>) -> Option<i64> {
    let values = values?.as_array().filter(|values| !values.is_empty())?;
    let max = values.iter().filter_map(Value::as_str).map(str::len).max().unwrap_or(0);
    Some(i64::try_from(max).unwrap_or(i64::MAX))
}

fn properties(schema: &Map<String, Value>) -> Option<BTreeMap<String, Structural>> {
    let properties = schema.get("properties")?.as_object().filter(|properties| !properties.is_empty())?;
    Some(properties.iter().map(|(name, property)| (name.clone(), Structural::decode(property))).collect())
}

fn rules(schema: &Map<String, Value>) -> Vec<ValidationRule> {
    let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
    rules.into_iter().flatten().map(ValidationRule::decode).collect()
}

impl ValidationRule {
    /// The rule as the server quotes it in error messages: the Go JSON encoding of its internal struct.
    pub(crate) fn to_go_json(&self) -> String {
        let text = |text: &str| Value::from(text).to_string();
        let or_null = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
        let json = format!(
            r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
            text(&self.rule),
            text(&self.message),
            text(&self.message_expression),
            or_null(self.reason.as_deref().map(text)),
            text(&self.field_path),
            or_null(self.optional_old_self.map(|optional| optional.to_string())),
        );
        json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
    }

    fn decode(rule: &Value) -> Self {
        let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        ValidationRule {
            rule: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: rule.get("reason").and_then(Value::as_str).map(str::to_owned),
            field_path: text("fieldPath"),
            optional_old_self: rule.get("optionalOldSelf").and_then(Value::as_bool),
        }
    }
}
