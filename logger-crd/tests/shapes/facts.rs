//! Facts about a field or a type, beside what the type says.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::{Row, row_with};

#[derive(JsonSchema)]
#[schemars(extend("x-kubernetes-validations" = [{"rule": "self.x > 0"}], "x-rust-type" = "api::Point"))]
#[allow(dead_code)]
struct Point {
    x: i32,
    #[schemars(extend("x-rust-field" = "y_axis"))]
    y: Option<f64>,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct Tree {
    children: Vec<Tree>,
}

/// A type, with facts about the field it is of.
fn facts<T: JsonSchema>(name: &'static str, facts: Value, values: Vec<Value>) -> Row {
    let it = |generator: &mut SchemaGenerator| json!({"allOf": [generator.subschema_for::<T>(), facts]});
    row_with(name, it, values)
}

/// A schema as it is.
fn schema(name: &'static str, schema: Value, values: Vec<Value>) -> Row {
    row_with(name, |_| schema.clone(), values)
}

pub(super) fn rows() -> Vec<Row> {
    [meeting(), contradictions(), marks(), unions()].into_iter().flatten().collect()
}

fn meeting() -> Vec<Row> {
    let point = json!({"x-logger-float": true});
    vec![
        facts::<u8>(
            "bounds intersect",
            json!({"minimum": -5, "maximum": 9, "multipleOf": 3}),
            vec![json!(9), json!(10), json!(-1), json!(4)],
        ),
        schema(
            "strict bounds intersect",
            json!({"allOf": [{"type": "integer", "minimum": 1}, {"exclusiveMinimum": 1}, {"exclusiveMinimum": true, "minimum": 0}]}),
            vec![json!(2), json!(1)],
        ),
        schema(
            "both patterns hold",
            json!({"allOf": [{"type": "string", "pattern": "^a", "maxLength": 9}, {"pattern": "'b\\d$"}]}),
            vec![json!("a'b1"), json!("a"), json!("'b1")],
        ),
        schema(
            "enums intersect",
            json!({"allOf": [{"enum": ["A", "B", "C"]}, {"enum": ["B", "C", "D"]}]}),
            vec![json!("B"), json!("A")],
        ),
        schema(
            "rules of the type first",
            json!({"allOf": [
                {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]},
                {"x-kubernetes-validations": [{"rule": "self < 9"}]},
            ]}),
            vec![json!(5), json!(0), json!(9)],
        ),
        facts::<String>(
            "docs, default and example of the field",
            json!({"description": "d", "default": "a", "example": "e", "title": "t"}),
            vec![],
        ),
        facts::<Point>("the float of a type", point, vec![]),
        facts::<Vec<String>>(
            "facts about each item",
            json!({"x-logger-each": {"minLength": 2, "enum": ["aa", "b"]}}),
            vec![json!(["aa"]), json!(["b"])],
        ),
        facts::<std::collections::BTreeMap<String, i32>>(
            "facts about each value, and about the map",
            json!({"x-logger-each": {"minimum": 2}, "maxProperties": 1}),
            vec![json!({"a": 2}), json!({"a": 1}), json!({"a": 2, "b": 2})],
        ),
        facts::<Vec<std::collections::BTreeMap<i32, String>>>(
            "list of maps with integer keys, with bounds",
            json!({"maxItems": 100, "x-logger-each": {"maxProperties": 100}}),
            vec![json!([{"1": "a"}]), json!([{"a": "a"}])],
        ),
        facts::<Vec<std::collections::BTreeMap<i32, String>>>(
            "list of maps with integer keys, one bound",
            json!({"maxItems": 100}),
            vec![],
        ),
        facts::<Vec<String>>("a list that is a set", json!({"x-kubernetes-list-type": "set"}), vec![json!(["a", "a"])]),
        schema(
            "facts about each item, of the type and of the field",
            json!({"allOf": [
                {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, "x-logger-each": {"maxItems": 2}},
                {"x-logger-each": {"minItems": 1, "x-logger-each": {"minimum": 1}}},
            ]}),
            vec![json!([[1, 2]]), json!([[]]), json!([[1, 2, 3]]), json!([[0]])],
        ),
        facts::<Vec<Option<f64>>>("floats in a list", json!({"x-logger-float": true}), vec![json!([0.5, null])]),
        facts::<Tree>(
            "the depth of a field",
            json!({"x-logger-depth": 1}),
            vec![json!({"children": [{"any": 1}]}), json!({"children": [1]})],
        ),
        facts::<Option<i32>>("nullable", json!({"x-logger-nullable": true}), vec![json!(null), json!(1)]),
    ]
}

fn contradictions() -> Vec<Row> {
    vec![
        schema(
            "list types that differ",
            json!({"allOf": [
                {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, {"x-kubernetes-list-type": "atomic"},
            ]}),
            vec![],
        ),
        facts::<u8>("an empty range", json!({"minimum": 300}), vec![]),
        schema("an empty strict range", json!({"type": "integer", "minimum": 3, "exclusiveMaximum": 3}), vec![]),
        schema("enums with nothing in common", json!({"allOf": [{"enum": ["A"]}, {"enum": ["B"]}]}), vec![]),
        facts::<String>("a type that differs", json!({"type": "integer"}), vec![]),
        facts::<i32>("`each` on a scalar", json!({"x-logger-each": {"minimum": 2}}), vec![]),
        facts::<i32>("a word the server does not know", json!({"minimun": 2}), vec![]),
        schema(
            "variants that have names",
            json!({"oneOf": [
                {"type": "string", "enum": ["off"], "x-rust-variant": "Off"},
                {"type": "object", "properties": {"on": {"type": "string"}}, "required": ["on"], "x-rust-variant": "On"},
            ]}),
            vec![],
        ),
        schema("a reference to nothing", json!({"$ref": "#/$defs/Nothing"}), vec![]),
    ]
}

fn marks() -> Vec<Row> {
    vec![
        facts::<i32>("marks for others", json!({"x-logger-column": {"name": "A"}, "x-logger-immutable": true}), vec![]),
        schema(
            "an object of a Rust type without fields",
            json!({"type": "object", "x-rust-type": "api::Empty"}),
            vec![json!({"a": 1})],
        ),
        facts::<(i32, i32)>("schemaless", json!({"x-logger-schemaless": true}), vec![json!([1, 2]), json!("a")]),
        facts::<(i32, i32)>(
            "schemaless, with a type",
            json!({"x-logger-schemaless": true, "type": "array", "items": {"type": "integer"}, "maxItems": 2}),
            vec![json!([1, 2]), json!("a")],
        ),
        facts::<(i32, i32)>(
            "a tuple that takes any value",
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            vec![json!([1, 2])],
        ),
        facts::<Point>(
            "an object that keeps unknown fields",
            json!({"x-kubernetes-preserve-unknown-fields": true, "properties": {"y": {"x-logger-float": true}}}),
            vec![json!({"x": 1, "z": 1}), json!({"x": 0})],
        ),
    ]
}

#[derive(JsonSchema)]
#[schemars(extend("x-logger-via" = "cel"))]
#[allow(dead_code)]
#[serde(rename_all = "kebab-case")]
enum Escaped {
    Namespace(String),
    FooBar(i32),
    #[serde(rename = "in")]
    In {},
}

#[derive(JsonSchema)]
#[schemars(extend("x-logger-via" = "cel"))]
#[allow(dead_code)]
#[serde(tag = "type")]
enum Tagged {
    A,
    B { size: i32 },
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct Holder {
    name: String,
    #[serde(flatten)]
    data: Option<Escaped>,
}

fn unions() -> Vec<Row> {
    vec![
        facts::<Escaped>(
            "exclusive by a rule",
            json!({}),
            vec![json!({"namespace": "a"}), json!({"in": {}}), json!({}), json!({"namespace": "a", "foo-bar": 1})],
        ),
        facts::<Vec<Vec<Escaped>>>(
            "exclusive by a rule, in lists of lists",
            json!({}),
            vec![json!([[{"namespace": "a"}]])],
        ),
        facts::<Tagged>(
            "tagged, by a rule",
            json!({}),
            vec![json!({"type": "A"}), json!({"type": "B", "size": 1}), json!({"type": "B"})],
        ),
        facts::<Holder>(
            "at most one, by a rule",
            json!({"x-logger-via": "cel"}),
            vec![
                json!({"name": "a"}),
                json!({"name": "a", "in": {}}),
                json!({"name": "a", "namespace": "a", "foo-bar": 1}),
            ],
        ),
        schema(
            "alternatives that only restrict",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"], "properties": {"b": {"const": "b"}}}]}),
            vec![json!({"a": "a"}), json!({"b": "b"}), json!({"b": "c"}), json!({})],
        ),
        schema(
            "fields that need others",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "dependentRequired": {"a": ["b"]}}),
            vec![json!({"b": "b"}), json!({"a": "a"}), json!({"a": "a", "b": "b"})],
        ),
    ]
}
