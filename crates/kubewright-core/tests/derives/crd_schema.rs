//! Tests of `CrdSchema`: the schemars schema with the keywords of `#[schema(..)]`.

use std::collections::BTreeMap;

use kubewright_core::CrdSchema;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The destination of records.
#[derive(Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[schema(exactly_one_of = [to_file, stream], validation(rule = "self.level != ''", message = "a level is required"))]
struct Sink {
    /// A file.
    #[schema(length = 1..=253, pattern = "^/")]
    to_file: Option<String>,
    #[schema(immutable)]
    stream: Option<String>,
    #[serde(rename = "namespace")]
    #[schema(immutable, required)]
    home: Option<String>,
    #[schema(column(name = "Level", priority = 1), selectable)]
    level: String,
    #[schema(min = -5, max = 10, exclusive_max)]
    #[serde(default)]
    offset: i32,
    #[schema(properties = ..=10, each(length = ..=63))]
    tags: BTreeMap<String, String>,
    plain: u8,
}

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct Plain {
    /// A string.
    some_text: String,
    number: Option<u8>,
}

mod twin {
    use super::{CrdSchema, Deserialize, Serialize};

    #[derive(Deserialize, CrdSchema, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct Plain {
        /// A string.
        some_text: String,
        number: Option<u8>,
    }
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[serde(default)]
struct Defaulted {
    size: u16,
    name: String,
}

impl Default for Defaulted {
    fn default() -> Self {
        Defaulted { size: 7, name: "audit".to_owned() }
    }
}

#[derive(Deserialize, CrdSchema, Serialize)]
struct Generic<T> {
    #[schema(items = 1..)]
    values: Vec<T>,
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
enum Shape {
    Circle {
        #[schema(min = 1)]
        radius: u32,
    },
    Tree(Box<Tree>),
    Nothing,
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(min = 1)]
struct Count(u32);

#[derive(Deserialize, CrdSchema, Serialize)]
struct Tree {
    branches: Vec<Tree>,
    shape: Option<Shape>,
}

fn schema<T: JsonSchema>() -> Value {
    let mut schema = schema_for!(T).to_value();
    schema.as_object_mut().expect("an object").remove("$schema");
    schema
}

#[test]
fn schema_without_attributes_is_that_of_schemars_with_names_and_locations() {
    let mut ours = schema::<twin::Plain>();
    assert_eq!(ours["x-rust-type"], "derives::crd_schema::twin::Plain");
    assert_eq!(ours["properties"]["someText"]["x-rust-field"], "some_text");
    ours.as_object_mut().expect("an object").remove("x-rust-type");
    for name in ["someText", "number"] {
        let property = ours["properties"][name].as_object_mut().expect("an object");
        property.remove("x-rust-field");
        let location = property.remove("x-kubewright-location").expect("a location");
        assert!(location.as_str().is_some_and(|text| text.contains("tests/derives/crd_schema.rs:")), "{location}");
    }
    assert_eq!(ours, schema::<Plain>());
}

#[test]
fn keywords_of_a_field_are_combined_with_its_schema() {
    let schema = schema::<Sink>();
    let properties = &schema["allOf"][0]["properties"];
    let mut to_file = properties["toFile"].clone();
    to_file.as_object_mut().expect("an object").remove("x-kubewright-location");
    assert_eq!(
        to_file,
        json!({
            "description": "A file.",
            "allOf": [{"type": ["string", "null"]}, {"minLength": 1, "maxLength": 253, "pattern": "^/"}],
            "x-rust-field": "to_file",
        })
    );
    assert_eq!(
        properties["level"]["allOf"][1],
        json!({"x-kubewright-selectable": true, "x-kubewright-column": {"name": "Level", "priority": 1}})
    );
    assert_eq!(properties["offset"]["allOf"][1], json!({"minimum": -5, "maximum": 10, "exclusiveMaximum": true}),);
    assert_eq!(properties["offset"]["default"], 0);
    assert_eq!(properties["tags"]["allOf"][1], json!({"maxProperties": 10, "x-kubewright-each": {"maxLength": 63}}));
    assert!(properties["plain"].get("allOf").is_none());
}

#[test]
fn keywords_of_the_object_are_those_of_the_type() {
    let schema = schema::<Sink>();
    let rules = schema["allOf"][1]["x-kubernetes-validations"].as_array().expect("rules");
    assert_eq!(
        *rules,
        [
            json!({"rule": "self.level != ''", "message": "a level is required"}),
            json!({
                "rule": "!has(oldSelf.stream) || has(self.stream)",
                "message": "stream is immutable: it cannot be removed",
            }),
            json!({
                "rule": "(has(self.toFile) ? 1 : 0) + (has(self.stream) ? 1 : 0) == 1",
                "message": "exactly one of toFile, stream must be set",
            }),
        ]
    );
    let required = schema["allOf"][0]["required"].as_array().expect("names");
    assert!(required.contains(&json!("namespace")), "{required:?}");
    assert_eq!(
        schema["allOf"][0]["properties"]["namespace"]["allOf"][1],
        json!({"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "it is immutable"}]})
    );
    assert_eq!(schema["description"], "The destination of records.");
}

#[test]
fn default_of_the_type_is_that_of_its_fields() {
    let properties = &schema::<Defaulted>()["properties"];
    assert_eq!(properties["size"]["default"], 7);
    assert_eq!(properties["name"]["default"], "audit");
    assert!(schema::<Defaulted>().get("required").is_none());
}

#[test]
fn generics_newtypes_enums_and_recursive_types() {
    assert_eq!(Generic::<u8>::schema_name(), "Generic_for_uint8");
    assert_eq!(schema::<Generic<u8>>()["properties"]["values"]["allOf"][1], json!({"minItems": 1}));
    assert_eq!(schema::<Count>()["allOf"][1], json!({"minimum": 1}));
    let shape = schema::<Shape>();
    let circle = &shape["oneOf"]
        .as_array()
        .expect("variants")
        .iter()
        .find(|variant| variant["properties"].get("circle").is_some());
    assert_eq!(
        circle.expect("a circle")["properties"]["circle"]["properties"]["radius"]["allOf"][1],
        json!({"minimum": 1})
    );
    let tree = schema::<Tree>();
    assert_eq!(tree["properties"]["branches"]["items"], json!({"$ref": "#"}));
}

/// A type without fields.
#[derive(Deserialize, CrdSchema, Serialize)]
struct Nothing {}

/// A type with unknown fields only.
#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(preserve_unknown_fields)]
struct Anything {}

#[test]
fn struct_without_fields_is_marked_as_empty_unless_it_preserves_unknown_fields() {
    let keywords = |schema: schemars::Schema| schema.as_value()["allOf"][1].clone();
    assert_eq!(keywords(schema_for!(Nothing)), json!({"x-kubewright-empty": true}));
    assert_eq!(keywords(schema_for!(Anything)), json!({"x-kubernetes-preserve-unknown-fields": true}));
}

#[derive(Deserialize, CrdSchema, Serialize)]
struct SnakeCase {
    time_interval: u8,
    #[serde(rename = "max_size")]
    max_size: u8,
    level: u8,
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "snake_case")]
struct Explicit {
    time_interval: u8,
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
enum Variants {
    First { time_interval: u8 },
}

#[test]
fn json_names_in_snake_case_are_marked_unless_they_are_explicit() {
    let mark = |schema: &Value, name: &str| schema["properties"][name].get("x-kubewright-snake-case").cloned();
    let snake_case = schema::<SnakeCase>();
    assert_eq!(mark(&snake_case, "time_interval"), Some(json!("derives::crd_schema::SnakeCase.time_interval")));
    assert_eq!((mark(&snake_case, "max_size"), mark(&snake_case, "level")), (None, None));
    assert_eq!(mark(&schema::<Explicit>(), "time_interval"), None);
    let variant = &schema::<Variants>()["oneOf"][0]["properties"]["first"];
    assert_eq!(mark(variant, "time_interval"), Some(json!("derives::crd_schema::Variants.time_interval")));
}
