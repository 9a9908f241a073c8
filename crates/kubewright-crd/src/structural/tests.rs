//! Tests of the conversion, one case per schema.

use kubewright_names::extension::Extension;
use proptest::prelude::*;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

use super::*;

/// Converts the schema of a field `it`.
fn convert_field(schema: Value) -> Result<Value, String> {
    let schema = json!({"type": "object", "properties": {"it": schema}});
    let options = Options { root: Some(Root::default()), allow_floats: true, ..Options::default() };
    match convert(&schema, &options) {
        Ok(structural) => Ok(structural.schema["properties"]["it"].clone()),
        Err(errors) => Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    }
}

#[track_caller]
fn assert_converts(schema: Value, expected: Value) {
    assert_eq!(convert_field(schema), Ok(expected));
}

#[track_caller]
fn assert_error(schema: Value, expected: &str) {
    assert_eq!(convert_field(schema), Err(expected.to_owned()));
}

fn schema_of<T: JsonSchema>() -> Value {
    T::json_schema(&mut SchemaSettings::draft2020_12().into_generator()).to_value()
}

#[test]
fn options_are_optional_and_not_nullable() {
    assert_converts(schema_of::<Option<i32>>(), json!({"type": "integer", "format": "int32"}));
    assert_converts(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"}),
        json!({"type": "string", "description": "d"}),
    );
    assert_converts(json!({"type": ["string", "null"], "enum": ["A", null]}), json!({"type": "string", "enum": ["A"]}));
    assert_converts(json!({"type": ["string", "null"], "default": null}), json!({"type": "string"}));
    let item = json!({"type": "integer", "format": "int32", "nullable": true});
    assert_converts(schema_of::<Vec<Option<i32>>>(), json!({"type": "array", "items": item}));
}

#[test]
fn nullable_fields_accept_null() {
    assert_converts(
        json!({"type": ["integer", "null"], "format": "int32", "nullable": true}),
        json!({"type": "integer", "format": "int32", "nullable": true}),
    );
    assert_converts(json!({"nullable": true}), json!({"nullable": true, "x-kubernetes-preserve-unknown-fields": true}));
    assert_converts(
        json!({"type": ["string", "null"], "nullable": true, "default": null}),
        json!({"type": "string", "nullable": true}),
    );
}

#[test]
fn enums_are_not_nullable() {
    let values = json!({"type": ["string", "null"], "enum": ["A", null]});
    let mut nullable = values.clone();
    nullable["nullable"] = json!(true);
    let expected = "the API server rejects null for a field with an `enum`; add an enum value for it";
    assert_error(nullable, &format!("`.it`: {expected}"));
    assert_error(json!({"type": "array", "items": values}), &format!("`.it[]`: {expected}"));
}

#[test]
fn integer_formats_are_converted() {
    for (schema, expected) in [
        (schema_of::<u8>(), json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 255})),
        (schema_of::<i16>(), json!({"type": "integer", "format": "int32", "minimum": -32768, "maximum": 32767})),
        (schema_of::<u32>(), json!({"type": "integer", "format": "int64", "minimum": 0, "maximum": 4294967295u32})),
        (schema_of::<u64>(), json!({"type": "integer", "format": "int64", "minimum": 0})),
    ] {
        assert_converts(schema, expected);
    }
    let bounded = json!({"type": "integer", "format": "uint8", "minimum": 3, "maximum": 999});
    assert_converts(bounded, json!({"type": "integer", "format": "int32", "minimum": 3, "maximum": 255}));
}

#[test]
fn bounds_of_field_and_type_are_intersected() {
    let narrowed = json!({"anyOf": [{"type": "string", "minLength": 4, "maxLength": 9}, {"type": "null"}], "minLength": 2, "maxLength": 5});
    assert_converts(narrowed, json!({"type": "string", "minLength": 4, "maxLength": 5}));
    assert_converts(
        json!({"type": "number", "exclusiveMinimum": 3}),
        json!({"type": "number", "minimum": 3, "exclusiveMinimum": true}),
    );
    assert_converts(
        json!({"type": "number", "minimum": 10, "exclusiveMinimum": 1.5}),
        json!({"type": "number", "minimum": 10}),
    );
}

#[test]
fn fields_of_flattened_types_are_merged() {
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let mut flattened = object.clone();
    flattened["oneOf"] = json!([{"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}]);
    let mut both = object.clone();
    both["properties"]["b"] = json!({"type": "string"});
    both["required"] = json!(["a", "b"]);
    assert_converts(flattened.clone(), both);
    flattened["oneOf"][0]["properties"] = json!({"a": {"type": "integer"}});
    assert_error(
        flattened,
        "`.it`: two fields have the JSON name `a`, so that it is encoded twice and cannot be decoded; rename one",
    );
}

#[test]
fn any_json_preserves_unknown_fields() {
    let preserved = json!({"x-kubernetes-preserve-unknown-fields": true});
    assert_converts(json!(true), preserved.clone());
    assert_converts(json!({}), preserved);
    assert_converts(
        json!({"description": "d"}),
        json!({"description": "d", "x-kubernetes-preserve-unknown-fields": true}),
    );
    assert_converts(json!({"type": "object"}), json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let flattened = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true});
    let expected = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-preserve-unknown-fields": true});
    assert_converts(flattened, expected);
}

#[test]
fn unit_enums_are_string_enums() {
    let documented = json!({"oneOf": [{"type": "string", "const": "A", "description": "a"}, {"type": "string", "enum": ["B", "C"]}]});
    assert_converts(documented, json!({"type": "string", "enum": ["A", "B", "C"]}));
}

#[test]
fn unique_scalars_are_sets_with_sorted_defaults() {
    let set = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true, "default": ["b", "a"]});
    let expected =
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "default": ["a", "b"]});
    assert_converts(set, expected);
    let of_objects = json!({"type": "array", "items": {"type": "object", "properties": {}}, "uniqueItems": true});
    assert_converts(of_objects, json!({"type": "array", "items": {"type": "object", "properties": {}}}));
}

#[test]
fn unsupported_schemas_are_errors_of_their_field() {
    for (schema, expected) in [
        (schema_of::<()>(), "a unit type has no JSON representation; remove the field, or use a struct"),
        (schema_of::<(i32, i32)>(), "a tuple has no structural schema; use a struct with named fields"),
        (schema_of::<u128>(), "the API server has no 128-bit integers; use `i64`, or `String` for larger numbers"),
        (
            json!({"type": "string", "not": {"type": "string"}}),
            "`not` with a type has no structural schema; use a bound or a plain type",
        ),
        (
            json!({"type": "string", "x-kubernets-validations": []}),
            "the API server does not support the schema keyword `x-kubernets-validations`; remove or correct it",
        ),
        (json!({"type": "array", "maxItems": 0}), "an array without items has no structural schema; specify its items"),
        (
            json!({"minLength": 1}),
            "its JSON type is unknown; derive `JsonSchema`, or specify it with `#[schemars(with = \"..\")]`",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
            "fields beside a flattened map have no structural schema unless its values are `serde_json::Value`; use a separate field for the map",
        ),
    ] {
        assert_error(schema, &format!("`.it`: {expected}"));
    }
}

#[test]
fn valid_defaults_are_preserved() {
    for schema in [
        json!({"type": "integer", "format": "int32", "minimum": 1, "maximum": 3, "default": 3}),
        json!({"type": "number", "minimum": 0, "default": 1}),
        json!({"type": "string", "enum": ["A", "B"], "default": "B"}),
        json!({"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 1, "default": ["a"]}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1}}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "default": "http"}),
        json!({"x-kubernetes-preserve-unknown-fields": true, "default": {"a": [1]}}),
    ] {
        assert_converts(schema.clone(), schema);
    }
}

#[test]
fn invalid_defaults_are_errors_of_their_field() {
    let size = json!({"type": "integer", "format": "int32", "minimum": 1, "exclusiveMaximum": 9});
    let object = |default: Value| json!({"type": "object", "properties": {"size": size}, "required": ["size"], "default": default});
    for (schema, expected) in [
        (json!({"type": "integer", "minimum": 1, "default": 0}), "its default 0 is less than 1"),
        (json!({"type": "number", "exclusiveMaximum": 9, "default": 9}), "its default 9 is not less than 9"),
        (json!({"type": "integer", "default": "1"}), "its default \"1\" is of type string"),
        (
            json!({"type": "integer", "format": "int32", "default": 1_u64 << 40}),
            "its default 1099511627776 exceeds 32 bits",
        ),
        (json!({"type": "string", "enum": ["A"], "default": "B"}), "its default \"B\" is not one of [\"A\"]"),
        (json!({"type": "string", "minLength": 2, "default": "a"}), "its default \"a\" is shorter than 2"),
        (
            json!({"type": "array", "items": {"type": "string"}, "maxItems": 0, "default": ["a"]}),
            "its default [\"a\"] is longer than 0",
        ),
        (
            json!({"type": "array", "items": {"type": "string", "maxLength": 1}, "default": ["a", "bc"]}),
            "its default has \"bc\" at `[1]`, which is longer than 1",
        ),
        (object(json!({"size": 0})), "its default has 0 at `.size`, which is less than 1"),
        (object(json!({})), "its default misses the required field `.size`"),
        (object(json!({"size": 1, "other": 1})), "its default has the unknown field `.other`"),
    ] {
        assert_error(schema, &format!("`.it`: {expected}; change the default or the constraint"));
    }
}

/// Any JSON, with keywords of schemas.
fn any_schema() -> impl Strategy<Value = Value> {
    let keyword = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "additionalProperties",
        "required",
        "enum",
        "const",
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "$ref",
        "$defs",
        "default",
        "format",
        "minimum",
        "exclusiveMinimum",
        "maximum",
        "pattern",
        "uniqueItems",
        "a",
        "b",
        "patternProperties",
        "propertyNames",
        "dependentRequired",
        "prefixItems",
        "nullable",
        "x-kubernetes-validations",
        "x-kubernetes-list-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-int-or-string",
        "x-kubewright-each",
        "x-kubewright-schemaless",
        "x-kubewright-depth",
        "x-kubewright-via",
        "x-kubewright-float",
        "x-rust-type",
        "x-rust-field",
    ]);
    let text = prop::sample::select(vec![
        "object",
        "string",
        "integer",
        "number",
        "array",
        "null",
        "boolean",
        "int32",
        "uint8",
        "ip",
        "a",
        "b",
        "#",
        "cel",
        "#/$defs/a",
        "#/$defs/b",
        "#/properties/a",
        "#/oneOf/0",
        "%zz",
        "#/%",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::btree_map(keyword.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_schema_causes_a_panic_and_the_result_is_structural(schema in any_schema(), root in any::<bool>()) {
        let root = root.then(|| Root { status: true, ..Root::default() });
        let options = Options { root, ..Options::default() };
        if let Ok(structural) = convert(&schema, &options) {
            prop_assert_eq!(not_structural(&structural.schema, true), None, "{}", structural.schema);
        }
    }
}

/// Returns what is not structural in a node or its children. In alternatives, only value validations are allowed.
fn not_structural(schema: &Value, is_structure: bool) -> Option<String> {
    let node = schema.as_object()?;
    let has = |key: &str| node.contains_key(key);
    if is_structure && !["type", INT_OR_STRING, PRESERVE].iter().any(|key| has(key)) {
        return Some(format!("no type: {schema}"));
    }
    let is_structural_keyword = |key: &str| {
        ["type", "description", "title", "default", "nullable", "additionalProperties"].contains(&key)
            || key.starts_with("x-")
    };
    let int_or_string_types = json!([{"type": "integer"}, {"type": "string"}]);
    let is_int_or_string_pattern =
        |all: &Value| *all == int_or_string_types || all == &json!([{"anyOf": int_or_string_types}]);
    if let Some(key) = node.keys().find(|key| {
        key.starts_with("x-kubewright") || key.starts_with('$') || !is_structure && is_structural_keyword(key)
    }) {
        return Some(format!("`{key}`: {schema}"));
    }
    let int_or_string = has(INT_OR_STRING);
    if has("properties") && has("additionalProperties") || schema["type"] == "array" && !has("items") {
        return Some(format!("children: {schema}"));
    }
    let junctors = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| node.get(key))
        .filter(|all| !(int_or_string && is_int_or_string_pattern(all)));
    let branches = junctors
        .filter_map(Value::as_array)
        .flatten()
        .filter(|branch| !(int_or_string && branch["anyOf"] == int_or_string_types));
    let children = ["items", "additionalProperties"].into_iter().filter_map(|key| node.get(key));
    let children = children
        .chain(node.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(_, property)| property));
    let below = branches.chain(node.get("not")).find_map(|branch| not_structural(branch, false));
    below.or_else(|| children.into_iter().find_map(|child| not_structural(child, is_structure)))
}

#[test]
fn formats_are_removed_on_request() {
    let plain = json!({"x-kubewright-no-format": true});
    assert_converts(json!({"allOf": [schema_of::<i64>(), plain]}), json!({"type": "integer"}));
    let each = json!({"x-kubewright-each": plain});
    let expected = json!({"type": "array", "items": {"type": "number"}});
    assert_converts(json!({"allOf": [schema_of::<Vec<f64>>(), each]}), expected);
}

/// Converts the root of an object with a status and these alternatives.
fn root_with(alternatives: Value, union_validation: UnionValidation) -> Result<Structural, Vec<SchemaError>> {
    let schema = json!({"type": "object", "properties": {"metadata": {"$ref": "#/nowhere"}}, "oneOf": alternatives});
    let root = Root { description: "The kind.".to_owned(), status: true };
    convert(&schema, &Options { root: Some(root), union_validation, ..Options::default() })
}

#[test]
fn alternatives_at_a_root_with_status_are_validated_in_cel() {
    let variant = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    for union_validation in [UnionValidation::Schema, UnionValidation::Cel] {
        let root = root_with(json!([variant("a"), variant("b")]), union_validation).expect("it is structural").schema;
        assert_eq!(root["x-kubernetes-validations"][0]["rule"], "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1");
        assert_eq!((root.get("oneOf"), &root["description"]), (None, &json!("The kind.")));
        assert_eq!(root["properties"]["metadata"], json!({"type": "object"}));
    }
    let errors = root_with(json!([{"required": ["a"]}, {"required": ["b"]}]), UnionValidation::Schema)
        .expect_err("it is at the root");
    assert_eq!(errors[0].path, "");
    assert!(errors[0].message.starts_with("the root of an object with a status cannot have `oneOf`"), "{errors:?}");
}

#[test]
fn extensions_and_rust_fields_are_by_path() {
    let schema = json!({"x-rust-type": "v1::Widget", "properties": {"spec": {"$ref": "#/$defs/Spec"}}, "$defs": {"Spec": {
        "x-rust-type": "v1::Spec",
        "properties": {"timeInterval": {"type": "integer", "x-rust-field": "time_interval", "x-kubewright-column": 1}, "list": {
            "type": "array", "items": {"type": "string", "x-kubewright-column": 2},
        }},
    }}});
    let structural = convert(&schema, &Options::default()).expect("it is structural");
    let columns: Vec<_> = structural.extensions[&Extension::Column].iter().collect();
    assert_eq!(columns, [(&".spec.list[]".to_owned(), &json!(2)), (&".spec.timeInterval".to_owned(), &json!(1))]);
    assert_eq!(structural.rust_fields[".spec.timeInterval"], "v1::Spec::time_interval");
    assert_eq!(structural.rust_fields[".spec"], "v1::Widget::spec");
    assert_eq!(structural.rust_fields[".spec.list[]"], "v1::Spec::list");
}

#[test]
fn an_unknown_extension_is_an_error() {
    let schema = json!({"properties": {"size": {"type": "integer", "x-kubewright-colum": "Size"}}});
    let errors = convert(&schema, &Options::default()).expect_err("there is no such extension");
    assert_eq!(errors[0].path, ".size");
    assert_eq!(errors[0].message, "unknown extension `x-kubewright-colum`; correct its name or remove it");
}

#[test]
fn errors_have_the_source_location_of_the_innermost_field() {
    let errors = |below: Value| {
        let spec = json!({"x-kubewright-location": "src/v1.rs:4", "properties": {"size": below}});
        let errors = convert(&json!({"properties": {"spec": spec}}), &Options::default()).unwrap_err();
        errors.into_iter().map(|error| (error.path, error.location)).collect::<Vec<_>>()
    };
    let at = |path: &str, location: &str| (path.to_owned(), Some(location.to_owned()));
    let mut list = json!({"type": "array", "items": {"type": ["string", "null"], "enum": ["A", null]}});
    assert_eq!(errors(list.clone()), [at(".spec.size[]", "src/v1.rs:4")]);
    list["x-kubewright-location"] = json!("src/v1.rs:9");
    assert_eq!(errors(list), [at(".spec.size[]", "src/v1.rs:9")]);
    let status = json!({"type": "string", "x-kubewright-location": "src/v1.rs:7"});
    let status = json!({"properties": {"status": status}, "required": ["status"]});
    let root = Root { status: true, ..Root::default() };
    let errors = convert(&status, &Options { root: Some(root), ..Options::default() }).unwrap_err();
    assert_eq!(errors[0].location.as_deref(), Some("src/v1.rs:7"));
}

#[test]
fn merged_contracts_have_all_fields_and_require_deserialized_ones() {
    let deserialized =
        json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"], "$defs": {"A": {"properties": {}}}});
    let serialized = json!({
        "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}}, "required": ["a", "b"],
        "$defs": {"A": {"properties": {"c": {"type": "string"}}}, "B": {"type": "string"}},
    });
    let merged = merge_contracts(deserialized, &serialized);
    assert_eq!(merged["required"], json!(["a"]));
    assert_eq!(merged["properties"]["b"], json!({"$ref": "#/$defs/B"}));
    assert_eq!(merged["$defs"], serialized["$defs"]);
}

#[test]
fn names_and_strings_in_rules_are_escaped() {
    for (name, escaped) in [
        ("a", Some("a")),
        ("in", Some("__in__")),
        ("a-b.c/d__e", Some("a__dash__b__dot__c__slash__d__underscores__e")),
        ("1a", None),
        ("ä", None),
    ] {
        assert_eq!(crate::cel::escape(name).as_deref(), escaped);
    }
    assert_eq!(cel_rule::string("it's\n\\d"), r"'it\'s\n\\d'");
}

#[test]
fn large_and_deep_schemas_are_errors() {
    let two_references = |name: &str| json!({"properties": {"a": {"$ref": format!("#/$defs/{name}")}, "b": {"$ref": format!("#/$defs/{name}")}}});
    let definitions: Map<String, Value> =
        (0..30).map(|i| (i.to_string(), two_references(&(i + 1).to_string()))).collect();
    let schema = json!({"$ref": "#/$defs/0", "$defs": definitions});
    let errors = convert(&schema, &Options::default()).expect_err("it has a billion nodes");
    assert!(errors.iter().any(|error| error.message.contains("more than 30000 nodes")), "{errors:?}");
    let deep = (0..200).fold(json!({"type": "string"}), |schema, _| json!({"type": "array", "items": schema}));
    let errors = convert(&deep, &Options::default()).expect_err("it is too deep");
    assert!(errors[0].message.contains("more than 100 levels"), "{errors:?}");
}
