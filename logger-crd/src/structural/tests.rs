//! What becomes of the shapes that schemars makes, and of facts beside them, one row each.

use proptest::prelude::*;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::*;

/// The schema of a field `it` of this schema, or what is wrong with it.
fn pass(schema: Value) -> Result<Value, String> {
    let schema = json!({"type": "object", "properties": {"it": schema}});
    let options = Options { root: Some(Root::default()), allow_floats: true, ..Options::default() };
    match structural(&schema, &options) {
        Ok(structural) => Ok(structural.schema["properties"]["it"].clone()),
        Err(refusals) => Err(refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    }
}

#[track_caller]
fn becomes(schema: Value, expected: Value) {
    assert_eq!(pass(schema), Ok(expected));
}

#[track_caller]
fn is_refused(schema: Value, expected: &str) {
    assert_eq!(pass(schema), Err(expected.to_owned()));
}

fn of<T: JsonSchema>() -> Value {
    T::json_schema(&mut SchemaSettings::draft2020_12().into_generator()).to_value()
}

#[test]
fn an_option_is_an_absent_field_and_not_a_null() {
    becomes(of::<Option<i32>>(), json!({"type": "integer", "format": "int32"}));
    becomes(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"}),
        json!({"type": "string", "description": "d"}),
    );
    becomes(json!({"type": ["string", "null"], "enum": ["A", null]}), json!({"type": "string", "enum": ["A"]}));
    becomes(json!({"type": ["string", "null"], "default": null}), json!({"type": "string"}));
    let item = json!({"type": "integer", "format": "int32", "nullable": true});
    becomes(of::<Vec<Option<i32>>>(), json!({"type": "array", "items": item}));
}

#[test]
fn a_nullable_is_its_value_or_a_null() {
    becomes(
        json!({"type": ["integer", "null"], "format": "int32", "nullable": true}),
        json!({"type": "integer", "format": "int32", "nullable": true}),
    );
    becomes(json!({"nullable": true}), json!({"nullable": true, "x-kubernetes-preserve-unknown-fields": true}));
    becomes(
        json!({"type": ["string", "null"], "nullable": true, "default": null}),
        json!({"type": "string", "nullable": true}),
    );
}

#[test]
fn a_null_is_no_word_of_an_enum() {
    let words = json!({"type": ["string", "null"], "enum": ["A", null]});
    let mut nullable = words.clone();
    nullable["nullable"] = json!(true);
    let expected = "the API server takes no null where there is an `enum`; add a word that stands for it";
    is_refused(nullable, &format!("`.it`: {expected}"));
    is_refused(json!({"type": "array", "items": words}), &format!("`.it[]`: {expected}"));
}

#[test]
fn integers_have_a_width_the_server_knows() {
    for (schema, expected) in [
        (of::<u8>(), json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 255})),
        (of::<i16>(), json!({"type": "integer", "format": "int32", "minimum": -32768, "maximum": 32767})),
        (of::<u32>(), json!({"type": "integer", "format": "int64", "minimum": 0, "maximum": 4294967295u32})),
        (of::<u64>(), json!({"type": "integer", "format": "int64", "minimum": 0})),
    ] {
        becomes(schema, expected);
    }
    let bounded = json!({"type": "integer", "format": "uint8", "minimum": 3, "maximum": 999});
    becomes(bounded, json!({"type": "integer", "format": "int32", "minimum": 3, "maximum": 255}));
}

#[test]
fn bounds_of_field_and_type_both_count() {
    let narrowed = json!({"anyOf": [{"type": "string", "minLength": 4, "maxLength": 9}, {"type": "null"}], "minLength": 2, "maxLength": 5});
    becomes(narrowed, json!({"type": "string", "minLength": 4, "maxLength": 5}));
    becomes(
        json!({"type": "number", "exclusiveMinimum": 3}),
        json!({"type": "number", "minimum": 3, "exclusiveMinimum": true}),
    );
    becomes(
        json!({"type": "number", "minimum": 10, "exclusiveMinimum": 1.5}),
        json!({"type": "number", "minimum": 10}),
    );
}

#[test]
fn flattened_types_keep_their_fields() {
    let own = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let mut flattened = own.clone();
    flattened["oneOf"] = json!([{"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}]);
    let mut both = own.clone();
    both["properties"]["b"] = json!({"type": "string"});
    both["required"] = json!(["a", "b"]);
    becomes(flattened.clone(), both);
    flattened["oneOf"][0]["properties"] = json!({"a": {"type": "integer"}});
    is_refused(flattened, "`.it`: two flattened types have a field `a`; rename one");
}

#[test]
fn any_json_is_preserved() {
    let preserved = json!({"x-kubernetes-preserve-unknown-fields": true});
    becomes(json!(true), preserved.clone());
    becomes(json!({}), preserved);
    becomes(json!({"description": "d"}), json!({"description": "d", "x-kubernetes-preserve-unknown-fields": true}));
    becomes(json!({"type": "object"}), json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let flattened = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true});
    let expected = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-preserve-unknown-fields": true});
    becomes(flattened, expected);
}

#[test]
fn unit_enums_are_lists_of_words() {
    let documented = json!({"oneOf": [{"type": "string", "const": "A", "description": "a"}, {"type": "string", "enum": ["B", "C"]}]});
    becomes(documented, json!({"type": "string", "enum": ["A", "B", "C"]}));
}

#[test]
fn sets_of_scalars_are_sets_and_their_defaults_sorted() {
    let set = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true, "default": ["b", "a"]});
    let expected =
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "default": ["a", "b"]});
    becomes(set, expected);
    let of_objects = json!({"type": "array", "items": {"type": "object", "properties": {}}, "uniqueItems": true});
    becomes(of_objects, json!({"type": "array", "items": {"type": "object", "properties": {}}}));
}

#[test]
fn what_cannot_be_said_is_refused_on_its_field() {
    for (schema, expected) in [
        (of::<()>(), "a unit has no value in JSON; leave the field out, or use a struct"),
        (of::<(i32, i32)>(), "a tuple has no structural schema; use a struct with named fields"),
        (of::<u128>(), "the API server has no 128-bit integers; use `i64`, or `String` for larger numbers"),
        (
            json!({"type": "string", "not": {"type": "string"}}),
            "a value that must not be something has no structural schema; use a bound or a plain type",
        ),
        (
            json!({"type": "string", "x-kubernets-validations": []}),
            "the API server knows no schema keyword `x-kubernets-validations`; remove or correct it",
        ),
        (
            json!({"type": "array", "maxItems": 0}),
            "an array that holds nothing cannot be part of an API; say what its items are",
        ),
        (
            json!({"minLength": 1}),
            "its JSON type is not known; derive `JsonSchema` or give it `#[schemars(with = \"..\")]`",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
            "fields beside a flattened map have no structural schema unless its values are `serde_json::Value`; give the map a field of its own",
        ),
    ] {
        is_refused(schema, &format!("`.it`: {expected}"));
    }
}

#[test]
fn a_default_that_obeys_its_schema_stays() {
    for schema in [
        json!({"type": "integer", "format": "int32", "minimum": 1, "maximum": 3, "default": 3}),
        json!({"type": "number", "minimum": 0, "default": 1}),
        json!({"type": "string", "enum": ["A", "B"], "default": "B"}),
        json!({"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 1, "default": ["a"]}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1}}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "default": "http"}),
        json!({"x-kubernetes-preserve-unknown-fields": true, "default": {"a": [1]}}),
    ] {
        becomes(schema.clone(), schema);
    }
}

#[test]
fn a_default_that_breaks_its_schema_is_refused_on_its_field() {
    let size = json!({"type": "integer", "format": "int32", "minimum": 1, "exclusiveMaximum": 9});
    let object = |default: Value| json!({"type": "object", "properties": {"size": size}, "required": ["size"], "default": default});
    for (schema, expected) in [
        (json!({"type": "integer", "minimum": 1, "default": 0}), "its default 0 is less than 1"),
        (json!({"type": "number", "exclusiveMaximum": 9, "default": 9}), "its default 9 is not less than 9"),
        (json!({"type": "integer", "default": "1"}), "its default \"1\" is of type string"),
        (
            json!({"type": "integer", "format": "int32", "default": 1_u64 << 40}),
            "its default 1099511627776 is more than 32 bits",
        ),
        (json!({"type": "string", "enum": ["A"], "default": "B"}), "its default \"B\" is none of [\"A\"]"),
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
        (object(json!({})), "its default leaves out `.size`, which is required"),
        (object(json!({"size": 1, "other": 1})), "its default has a field `.other` that its schema does not know"),
    ] {
        is_refused(schema, &format!("`.it`: {expected}; change the default or the rule"));
    }
}

/// Any JSON, with the words of schemas more often than others.
fn any_schema() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
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
        "x-logger-each",
        "x-logger-schemaless",
        "x-logger-depth",
        "x-logger-via",
        "x-logger-one-of",
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
            4 => prop::collection::btree_map(word.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_makes_it_panic_and_what_comes_out_is_structural(schema in any_schema(), root in any::<bool>()) {
        let root = root.then(|| Root { status: true, ..Root::default() });
        let options = Options { root, ..Options::default() };
        if let Ok(structural) = structural(&schema, &options) {
            prop_assert_eq!(not_structural(&structural.schema, true), None, "{}", structural.schema);
        }
    }
}

/// What the server's form forbids in this node or below. Below alternatives, only restrictions are allowed.
fn not_structural(schema: &Value, declares: bool) -> Option<String> {
    let node = schema.as_object()?;
    let has = |key: &str| node.contains_key(key);
    if declares && !["type", INT_OR_STRING, PRESERVE].iter().any(|key| has(key)) {
        return Some(format!("no type: {schema}"));
    }
    let declaring = |key: &str| {
        ["type", "description", "title", "default", "nullable", "additionalProperties"].contains(&key)
            || key.starts_with("x-")
    };
    let forms = json!([{"type": "integer"}, {"type": "string"}]);
    let is_forms = |all: &Value| *all == forms || all == &json!([{"anyOf": forms}]);
    if let Some(key) =
        node.keys().find(|key| key.starts_with("x-logger") || key.starts_with('$') || !declares && declaring(key))
    {
        return Some(format!("`{key}`: {schema}"));
    }
    let int_or_string = has(INT_OR_STRING);
    if has("properties") && has("additionalProperties") || schema["type"] == "array" && !has("items") {
        return Some(format!("children: {schema}"));
    }
    let junctors = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| node.get(key))
        .filter(|all| !(int_or_string && is_forms(all)));
    let branches =
        junctors.filter_map(Value::as_array).flatten().filter(|one| !(int_or_string && one["anyOf"] == forms));
    let children = ["items", "additionalProperties"].into_iter().filter_map(|key| node.get(key));
    let children =
        children.chain(node.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(_, one)| one));
    let below = branches.chain(node.get("not")).find_map(|one| not_structural(one, false));
    below.or_else(|| children.into_iter().find_map(|one| not_structural(one, declares)))
}

#[test]
fn a_format_is_left_out_where_that_is_asked_for() {
    let plain = json!({"x-logger-no-format": true});
    becomes(json!({"allOf": [of::<i64>(), plain]}), json!({"type": "integer"}));
    let each = json!({"x-logger-each": plain});
    let expected = json!({"type": "array", "items": {"type": "number"}});
    becomes(json!({"allOf": [of::<Vec<f64>>(), each]}), expected);
}

/// The root of an object with a status, with these alternatives.
fn root_with(alternatives: Value, via: Via) -> Result<Structural, Vec<Refusal>> {
    let schema = json!({"type": "object", "properties": {"metadata": {"$ref": "#/nowhere"}}, "oneOf": alternatives});
    let root = Root { docs: "The kind.".to_owned(), status: true };
    structural(&schema, &Options { root: Some(root), via, ..Options::default() })
}

#[test]
fn a_root_with_a_status_says_its_alternatives_in_cel() {
    let variant = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    for via in [Via::Schema, Via::Cel] {
        let root = root_with(json!([variant("a"), variant("b")]), via).expect("it is structural").schema;
        assert_eq!(root["x-kubernetes-validations"][0]["rule"], "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1");
        assert_eq!((root.get("oneOf"), &root["description"]), (None, &json!("The kind.")));
        assert_eq!(root["properties"]["metadata"], json!({"type": "object"}));
    }
    let refused =
        root_with(json!([{"required": ["a"]}, {"required": ["b"]}]), Via::Schema).expect_err("it is at the root");
    assert_eq!(refused[0].path, "");
    assert!(refused[0].message.starts_with("an object with a status takes no `oneOf`"), "{refused:?}");
}

#[test]
fn marks_and_rust_names_are_by_path() {
    let schema = json!({"x-rust-type": "v1::Widget", "properties": {"spec": {"$ref": "#/$defs/Spec"}}, "$defs": {"Spec": {
        "x-rust-type": "v1::Spec",
        "properties": {"timeInterval": {"type": "integer", "x-rust-field": "time_interval", "x-logger-column": 1}, "list": {
            "type": "array", "items": {"type": "string", "x-logger-column": 2},
        }},
    }}});
    let structural = structural(&schema, &Options::default()).expect("it is structural");
    let columns: Vec<_> = structural.marks["x-logger-column"].iter().collect();
    assert_eq!(columns, [(&".spec.list[]".to_owned(), &json!(2)), (&".spec.timeInterval".to_owned(), &json!(1))]);
    assert_eq!(structural.rust[".spec.timeInterval"], "v1::Spec::time_interval");
    assert_eq!(structural.rust[".spec"], "v1::Widget::spec");
    assert_eq!(structural.rust[".spec.list[]"], "v1::Spec::list");
}

#[test]
fn both_contracts_have_all_fields_and_require_what_is_read() {
    let read =
        json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"], "$defs": {"A": {"properties": {}}}});
    let written = json!({
        "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}}, "required": ["a", "b"],
        "$defs": {"A": {"properties": {"c": {"type": "string"}}}, "B": {"type": "string"}},
    });
    let both = both_contracts(read, &written);
    assert_eq!(both["required"], json!(["a"]));
    assert_eq!(both["properties"]["b"], json!({"$ref": "#/$defs/B"}));
    assert_eq!(both["$defs"], written["$defs"]);
}

#[test]
fn names_in_rules_are_escaped() {
    for (name, escaped) in [
        ("a", Some("a")),
        ("in", Some("__in__")),
        ("a-b.c/d__e", Some("a__dash__b__dot__c__slash__d__underscores__e")),
        ("1a", None),
        ("ä", None),
    ] {
        assert_eq!(crate::cel::escape(name).as_deref(), escaped);
    }
    assert_eq!(cel::text("it's\n\\d"), r"'it\'s\n\\d'");
}

#[test]
fn what_grows_without_end_is_refused() {
    let twice = |name: &str| json!({"properties": {"a": {"$ref": format!("#/$defs/{name}")}, "b": {"$ref": format!("#/$defs/{name}")}}});
    let definitions: Map<String, Value> = (0..30).map(|i| (i.to_string(), twice(&(i + 1).to_string()))).collect();
    let schema = json!({"$ref": "#/$defs/0", "$defs": definitions});
    let refused = structural(&schema, &Options::default()).expect_err("it has a billion nodes");
    assert!(refused.iter().any(|refusal| refusal.message.contains("beyond 30000 nodes")), "{refused:?}");
    let deep = (0..200).fold(json!({"type": "string"}), |schema, _| json!({"type": "array", "items": schema}));
    let refused = structural(&deep, &Options::default()).expect_err("it is too deep");
    assert!(refused[0].message.contains("more than 100 levels"), "{refused:?}");
}
