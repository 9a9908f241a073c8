//! Constraints of a field or a type in addition to the schema of the type.

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

/// Returns the shape of a type with constraints of the field.
fn constrained<T: JsonSchema>(name: &'static str, constraints: Value, values: Vec<Value>) -> Row {
    let it = |generator: &mut SchemaGenerator| json!({"allOf": [generator.subschema_for::<T>(), constraints]});
    row_with(name, it, values)
}

/// Returns a shape with a manual schema.
fn schema(name: &'static str, schema: Value, values: Vec<Value>) -> Row {
    row_with(name, |_| schema.clone(), values)
}

pub(super) fn rows() -> Vec<Row> {
    [intersections(), conflicts(), extensions(), unions()].into_iter().flatten().collect()
}

fn intersections() -> Vec<Row> {
    let point = json!({"x-kubewright-float": true});
    vec![
        constrained::<u8>(
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
            "both patterns apply",
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
        constrained::<String>(
            "description, default and example of the field",
            json!({"description": "d", "default": "a", "example": "e", "title": "t"}),
            vec![],
        ),
        constrained::<Point>("the float of a type", point, vec![]),
        constrained::<Vec<String>>(
            "constraints of items",
            json!({"x-kubewright-each": {"minLength": 2, "enum": ["aa", "b"]}}),
            vec![json!(["aa"]), json!(["b"])],
        ),
        constrained::<std::collections::BTreeMap<String, i32>>(
            "constraints of map values, and of the map",
            json!({"x-kubewright-each": {"minimum": 2}, "maxProperties": 1}),
            vec![json!({"a": 2}), json!({"a": 1}), json!({"a": 2, "b": 2})],
        ),
        constrained::<Vec<std::collections::BTreeMap<i32, String>>>(
            "list of maps with integer keys, with bounds",
            json!({"maxItems": 100, "x-kubewright-each": {"maxProperties": 100}}),
            vec![json!([{"1": "a"}]), json!([{"a": "a"}])],
        ),
        constrained::<Vec<std::collections::BTreeMap<i32, String>>>(
            "list of maps with integer keys, one bound",
            json!({"maxItems": 100}),
            vec![],
        ),
        constrained::<Vec<String>>(
            "a list of type set",
            json!({"x-kubernetes-list-type": "set"}),
            vec![json!(["a", "a"])],
        ),
        schema(
            "constraints of items, of the type and of the field",
            json!({"allOf": [
                {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, "x-kubewright-each": {"maxItems": 2}},
                {"x-kubewright-each": {"minItems": 1, "x-kubewright-each": {"minimum": 1}}},
            ]}),
            vec![json!([[1, 2]]), json!([[]]), json!([[1, 2, 3]]), json!([[0]])],
        ),
        constrained::<Vec<Option<f64>>>(
            "floats in a list",
            json!({"x-kubewright-float": true}),
            vec![json!([0.5, null])],
        ),
        constrained::<Tree>(
            "the depth of a field",
            json!({"x-kubewright-depth": 1}),
            vec![json!({"children": [{"any": 1}]}), json!({"children": [1]})],
        ),
        constrained::<Option<i32>>("nullable", json!({"x-kubewright-nullable": true}), vec![json!(null), json!(1)]),
    ]
}

fn conflicts() -> Vec<Row> {
    vec![
        schema(
            "different list types",
            json!({"allOf": [
                {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, {"x-kubernetes-list-type": "atomic"},
            ]}),
            vec![],
        ),
        constrained::<u8>("an empty range", json!({"minimum": 300}), vec![]),
        schema("an empty exclusive range", json!({"type": "integer", "minimum": 3, "exclusiveMaximum": 3}), vec![]),
        schema("disjoint enums", json!({"allOf": [{"enum": ["A"]}, {"enum": ["B"]}]}), vec![]),
        constrained::<String>("a different type", json!({"type": "integer"}), vec![]),
        constrained::<i32>("`each` on a scalar", json!({"x-kubewright-each": {"minimum": 2}}), vec![]),
        constrained::<i32>("an unknown keyword", json!({"minimun": 2}), vec![]),
        schema(
            "named variants",
            json!({"oneOf": [
                {"type": "string", "enum": ["off"], "x-rust-variant": "Off"},
                {"type": "object", "properties": {"on": {"type": "string"}}, "required": ["on"], "x-rust-variant": "On"},
            ]}),
            vec![],
        ),
        schema("a missing definition", json!({"$ref": "#/$defs/Nothing"}), vec![]),
    ]
}

fn extensions() -> Vec<Row> {
    vec![
        constrained::<i32>(
            "extensions of the generator",
            json!({"x-kubewright-column": {"name": "A"}, "x-kubewright-immutable": true}),
            vec![],
        ),
        schema(
            "an object of a Rust type without fields",
            json!({"type": "object", "x-rust-type": "api::Empty"}),
            vec![json!({"a": 1})],
        ),
        constrained::<(i32, i32)>(
            "schemaless",
            json!({"x-kubewright-schemaless": true}),
            vec![json!([1, 2]), json!("a")],
        ),
        constrained::<(i32, i32)>(
            "schemaless, with a type",
            json!({"x-kubewright-schemaless": true, "type": "array", "items": {"type": "integer"}, "maxItems": 2}),
            vec![json!([1, 2]), json!("a")],
        ),
        constrained::<(i32, i32)>(
            "a tuple that accepts any value",
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            vec![json!([1, 2])],
        ),
        constrained::<Point>(
            "an object that preserves unknown fields",
            json!({"x-kubernetes-preserve-unknown-fields": true, "properties": {"y": {"x-kubewright-float": true}}}),
            vec![json!({"x": 1, "z": 1}), json!({"x": 0})],
        ),
    ]
}

#[derive(JsonSchema)]
#[schemars(extend("x-kubewright-via" = "cel"))]
#[allow(dead_code)]
#[serde(rename_all = "kebab-case")]
enum Escaped {
    Namespace(String),
    FooBar(i32),
    #[serde(rename = "in")]
    In {},
}

#[derive(JsonSchema)]
#[schemars(extend("x-kubewright-via" = "cel"))]
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
        constrained::<Escaped>(
            "union with a rule",
            json!({}),
            vec![json!({"namespace": "a"}), json!({"in": {}}), json!({}), json!({"namespace": "a", "foo-bar": 1})],
        ),
        constrained::<Vec<Vec<Escaped>>>(
            "union with a rule, in lists of lists",
            json!({}),
            vec![json!([[{"namespace": "a"}]])],
        ),
        constrained::<Tagged>(
            "tagged union with a rule",
            json!({}),
            vec![json!({"type": "A"}), json!({"type": "B", "size": 1}), json!({"type": "B"})],
        ),
        constrained::<Holder>(
            "optional union with a rule",
            json!({"x-kubewright-via": "cel"}),
            vec![
                json!({"name": "a"}),
                json!({"name": "a", "in": {}}),
                json!({"name": "a", "namespace": "a", "foo-bar": 1}),
            ],
        ),
        schema(
            "alternatives of value validations",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"], "properties": {"b": {"const": "b"}}}]}),
            vec![json!({"a": "a"}), json!({"b": "b"}), json!({"b": "c"}), json!({})],
        ),
        schema(
            "dependent fields",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "dependentRequired": {"a": ["b"]}}),
            vec![json!({"b": "b"}), json!({"a": "a"}), json!({"a": "a", "b": "b"})],
        ),
    ]
}
