//! What rules see of a structural schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A node of a schema, as far as rules, their types and their values depend on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) format: String,
    pub(super) max_length: Option<i64>,
    pub(super) max_items: Option<i64>,
    pub(super) max_properties: Option<i64>,
    /// Length of the longest string in `enum`, in bytes; `None` without one.
    pub(super) longest_enum: Option<i64>,
    pub(super) required: Vec<String>,
    pub(super) is_nullable: bool,
    pub(super) has_default: bool,
    pub(super) is_int_or_string: bool,
    pub(super) is_embedded: bool,
    pub(super) keeps_unknown: bool,
    pub(super) list_type: ListType,
    pub(super) list_map_keys: Vec<String>,
    pub(super) map_type: Option<String>,
    pub(super) items: Option<Box<Node>>,
    /// `None` also where the schema lists none.
    pub(super) properties: Option<BTreeMap<String, Node>>,
    /// The schema of `additionalProperties`; a `true` or `false` there is [`Node::takes_additional`].
    pub(super) additional: Option<Box<Node>>,
    pub(super) takes_additional: bool,
    pub(super) rules: Vec<Rule>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    None,
    Object,
    Array,
    String,
    Number,
    Integer,
    Boolean,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::None => "",
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Integer => "integer",
            Kind::Boolean => "boolean",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ListType {
    #[default]
    Atomic,
    Set,
    Map,
}

/// One entry of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    pub(super) rule: String,
    pub(super) message: String,
    pub(super) message_expression: String,
    pub(super) reason: Option<String>,
    pub(super) field_path: String,
    pub(super) optional_old_self: Option<bool>,
}

impl Node {
    pub(super) fn of(schema: &Value) -> Self {
        let Value::Object(schema) = schema else { return Node::default() };
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        let flag = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or_default();
        let number = |key: &str| schema.get(key).and_then(Value::as_i64);
        let texts = |key: &str| -> Vec<String> { strings(schema.get(key)).map(str::to_owned).collect() };
        let additional = schema.get("additionalProperties");
        Node {
            kind: kind(text("type")),
            format: text("format").to_owned(),
            max_length: number("maxLength"),
            max_items: number("maxItems"),
            max_properties: number("maxProperties"),
            longest_enum: longest(schema.get("enum")),
            required: texts("required"),
            is_nullable: flag("nullable"),
            has_default: schema.get("default").is_some_and(|default| !default.is_null()),
            is_int_or_string: flag("x-kubernetes-int-or-string"),
            is_embedded: flag("x-kubernetes-embedded-resource"),
            keeps_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            list_type: match text("x-kubernetes-list-type") {
                "set" => ListType::Set,
                "map" => ListType::Map,
                _ => ListType::Atomic,
            },
            list_map_keys: texts("x-kubernetes-list-map-keys"),
            map_type: schema.get("x-kubernetes-map-type").and_then(Value::as_str).map(str::to_owned),
            items: schema.get("items").filter(|items| items.is_object()).map(|items| Box::new(Node::of(items))),
            properties: properties(schema),
            additional: additional.filter(|schema| schema.is_object()).map(|schema| Box::new(Node::of(schema))),
            takes_additional: additional == Some(&Value::Bool(true)),
            rules: rules(schema),
        }
    }

    pub(super) fn string() -> Self {
        Node { kind: Kind::String, ..Node::default() }
    }

    pub(super) fn property(&self, name: &str) -> Option<&Node> {
        self.properties.as_ref()?.get(name)
    }

    /// The node as the root of a resource, whose `apiVersion`, `kind` and names rules may always read. The server puts
    /// them in place of a `metadata` that does not type them.
    pub(super) fn as_resource(&self) -> Node {
        let is = |node: Option<&Node>, kind: Kind| node.is_some_and(|node| node.kind == kind);
        let metadata = self.property("metadata");
        let complete = is(self.property("kind"), Kind::String)
            && is(self.property("apiVersion"), Kind::String)
            && is(metadata, Kind::Object)
            && ["name", "generateName"]
                .iter()
                .all(|name| is(metadata.and_then(|metadata| metadata.property(name)), Kind::String));
        let mut node = self.clone();
        if !complete {
            let names = ["name", "generateName"].map(|name| (name.to_owned(), Node::string()));
            let metadata = Node { kind: Kind::Object, properties: Some(names.into()), ..Node::default() };
            let properties = node.properties.get_or_insert_default();
            properties.insert("kind".to_owned(), Node::string());
            properties.insert("apiVersion".to_owned(), Node::string());
            properties.insert("metadata".to_owned(), metadata);
            node.items = None;
        }
        node
    }

    /// Whether a rule stands here or anywhere below.
    pub(super) fn has_rules(&self) -> bool {
        let below = self.items.iter().chain(&self.additional).map(|node| &**node);
        !self.rules.is_empty() || below.chain(self.properties.iter().flat_map(BTreeMap::values)).any(Node::has_rules)
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "object" => Kind::Object,
        "array" => Kind::Array,
        "string" => Kind::String,
        "number" => Kind::Number,
        "integer" => Kind::Integer,
        "boolean" => Kind::Boolean,
        _ => Kind::None,
    }
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn longest(values: Option<&Value>) -> Option<i64> {
    let values = values?.as_array().filter(|values| !values.is_empty())?;
    let longest = values.iter().filter_map(Value::as_str).map(str::len).max().unwrap_or(0);
    Some(i64::try_from(longest).unwrap_or(i64::MAX))
}

fn properties(schema: &Map<String, Value>) -> Option<BTreeMap<String, Node>> {
    let properties = schema.get("properties")?.as_object().filter(|properties| !properties.is_empty())?;
    Some(properties.iter().map(|(name, property)| (name.clone(), Node::of(property))).collect())
}

fn rules(schema: &Map<String, Value>) -> Vec<Rule> {
    let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
    rules.into_iter().flatten().map(Rule::of).collect()
}

impl Rule {
    /// The rule as the server repeats it in its answers: Go's JSON of its own struct.
    pub(super) fn as_go(&self) -> String {
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

    fn of(rule: &Value) -> Self {
        let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Rule {
            rule: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: rule.get("reason").and_then(Value::as_str).map(str::to_owned),
            field_path: text("fieldPath"),
            optional_old_self: rule.get("optionalOldSelf").and_then(Value::as_bool),
        }
    }
}
