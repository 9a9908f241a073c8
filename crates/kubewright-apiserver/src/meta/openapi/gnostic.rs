//! Version 2 of OpenAPI in protobuf, which kubectl requests.
//!
//! The messages are those of `openapi.v2.Document` of github.com/google/gnostic-models. Only the fields that our
//! document has are encoded.

use serde_json::{Map, Value};

use crate::wire::protobuf::Writer;

/// The media types. Older clients ask for the first, newer ones for the second; the response has the first.
pub(super) const MEDIA_TYPES: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/// Encodes a document as protobuf.
pub(super) fn document(document: &Value) -> Vec<u8> {
    let mut message = Message::default();
    message.text(1, &document["swagger"]);
    let mut info = Message::default();
    info.text(1, &document["info"]["title"]);
    info.text(2, &document["info"]["version"]);
    message.message(2, &info);
    let mut paths = Message::default();
    paths.entries(2, &document["paths"], path);
    message.message(8, &paths);
    let mut definitions = Message::default();
    definitions.entries(1, &document["definitions"], schema);
    message.message(9, &definitions);
    message.0.into_bytes()
}

fn path(path: &Value) -> Message {
    let mut message = Message::default();
    for (number, name) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        if let Some(found) = path.get(name) {
            message.message(number, &operation(found));
        }
    }
    message.each(9, &path["parameters"], parameter);
    message
}

fn operation(operation: &Value) -> Message {
    let mut message = Message::default();
    message.text(3, &operation["description"]);
    message.text(5, &operation["operationId"]);
    message.texts(7, &operation["consumes"]);
    message.each(8, &operation["parameters"], parameter);
    let mut responses = Message::default();
    responses.entries(1, &operation["responses"], response);
    message.message(9, &responses);
    message.extensions(13, operation);
    message
}

/// Encodes a `ParametersItem` with a `Parameter`.
fn parameter(parameter: &Value) -> Message {
    let location = parameter["in"].as_str().unwrap_or_default();
    if location == "body" {
        let mut body = Message::default();
        body.text(2, &parameter["name"]);
        body.text(3, &parameter["in"]);
        body.flag(4, &parameter["required"]);
        body.message(5, &schema(&parameter["schema"]));
        return body.wrap_in(1).wrap_in(1);
    }
    let is_query = location == "query";
    let mut other = Message::default();
    other.flag(1, &parameter["required"]);
    other.text(2, &parameter["in"]);
    other.text(4, &parameter["name"]);
    other.text(if is_query { 6 } else { 5 }, &parameter["type"]);
    other.wrap_in(if is_query { 3 } else { 4 }).wrap_in(2).wrap_in(1)
}

/// Encodes a `ResponseValue` with a `Response`.
fn response(response: &Value) -> Message {
    let mut message = Message::default();
    message.text(1, &response["description"]);
    if let Some(found) = response.get("schema") {
        message.message(2, &schema(found).wrap_in(1));
    }
    message.wrap_in(1)
}

fn schema(schema: &Value) -> Message {
    let mut message = Message::default();
    for (number, name) in [(1, "$ref"), (2, "format"), (3, "title"), (4, "description"), (13, "pattern")] {
        message.text(number, &schema[name]);
    }
    message.any(5, &schema["default"]);
    for (number, name) in [(6, "multipleOf"), (7, "maximum"), (9, "minimum")] {
        message.number(number, &schema[name]);
    }
    for (number, name) in [(8, "exclusiveMaximum"), (10, "exclusiveMinimum"), (16, "uniqueItems")] {
        message.flag(number, &schema[name]);
    }
    let counts = [
        (11, "maxLength"),
        (12, "minLength"),
        (14, "maxItems"),
        (15, "minItems"),
        (17, "maxProperties"),
        (18, "minProperties"),
    ];
    for (number, name) in counts {
        message.count(number, &schema[name]);
    }
    message.texts(19, &schema["required"]);
    schema["enum"].as_array().into_iter().flatten().for_each(|value| message.any(20, value));
    subschemas(&mut message, schema);
    message.extensions(31, schema);
    message
}

/// Encodes the types of a schema and its subschemas.
fn subschemas(message: &mut Message, schema: &Value) {
    match &schema["additionalProperties"] {
        Value::Bool(any) => {
            let mut item = Message::default();
            item.flag(2, &Value::Bool(*any));
            message.message(21, &item);
        }
        Value::Null => {}
        entries => message.message(21, &self::schema(entries).wrap_in(1)),
    }
    if schema["type"].is_string() {
        let mut type_ = Message::default();
        type_.text(1, &schema["type"]);
        message.message(22, &type_);
    }
    if schema["items"].is_object() {
        message.message(23, &self::schema(&schema["items"]).wrap_in(1));
    }
    message.each(24, &schema["allOf"], self::schema);
    if schema["properties"].is_object() {
        let mut properties = Message::default();
        properties.entries(1, &schema["properties"], self::schema);
        message.message(25, &properties);
    }
}

/// A message. Missing values are not encoded.
#[derive(Default)]
struct Message(Writer);

impl Message {
    fn text(&mut self, number: u32, text: &Value) {
        if let Some(text) = text.as_str() {
            self.0.bytes(number, text.as_bytes());
        }
    }

    fn texts(&mut self, number: u32, texts: &Value) {
        texts.as_array().into_iter().flatten().for_each(|text| self.text(number, text));
    }

    fn flag(&mut self, number: u32, flag: &Value) {
        if flag.as_bool() == Some(true) {
            self.0.varint(number, 1);
        }
    }

    fn count(&mut self, number: u32, count: &Value) {
        if let Some(count) = count.as_u64() {
            self.0.varint(number, count);
        }
    }

    fn number(&mut self, number: u32, value: &Value) {
        if let Some(value) = value.as_f64() {
            self.0.fixed64(number, value.to_bits());
        }
    }

    /// Encodes an `Any`: a value as YAML, of which JSON is a subset.
    fn any(&mut self, number: u32, value: &Value) {
        if !value.is_null() {
            let mut any = Self::default();
            any.0.bytes(2, value.to_string().as_bytes());
            self.message(number, &any);
        }
    }

    fn message(&mut self, number: u32, message: &Self) {
        self.0.bytes(number, message.0.as_bytes());
    }

    fn each(&mut self, number: u32, list: &Value, encode: fn(&Value) -> Self) {
        list.as_array().into_iter().flatten().for_each(|item| self.message(number, &encode(item)));
    }

    /// Encodes the entries of a map: messages with a name and a value.
    fn entries(&mut self, number: u32, map: &Value, encode: fn(&Value) -> Self) {
        for (name, value) in map.as_object().into_iter().flatten() {
            let mut entry = Self::default();
            entry.0.bytes(1, name.as_bytes());
            entry.message(2, &encode(value));
            self.message(number, &entry);
        }
    }

    /// Encodes the vendor extensions (`x-`).
    fn extensions(&mut self, number: u32, node: &Value) {
        let none = Map::new();
        for (name, value) in node.as_object().unwrap_or(&none).iter().filter(|(name, _)| name.starts_with("x-")) {
            let mut entry = Self::default();
            entry.0.bytes(1, name.as_bytes());
            entry.any(2, value);
            self.message(number, &entry);
        }
    }

    /// Returns a message with this one as its only field.
    fn wrap_in(self, number: u32) -> Self {
        let mut outer = Self::default();
        outer.message(number, &self);
        outer
    }
}
