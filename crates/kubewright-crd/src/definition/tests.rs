//! Tests of the API of the validation. Its results are tested with the corpus in `tests/corpus/definitions`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::field::ErrorType;

fn crd(schema: &Value) -> Value {
    json!({
        "metadata": { "name": "as.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "plural": "as", "kind": "A" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
        },
    })
}

#[test]
fn errors_are_formatted_as_on_the_server() {
    let mut crd = crd(&json!({ "type": "object" }));
    crd["spec"]["names"]["plural"] = json!("X");
    let found: Vec<String> = validate(&crd).iter().map(ToString::to_string).collect();
    let expected = "spec.names.plural: Invalid value: \"X\": a DNS-1035 label must consist of lower case alphanumeric \
                    characters or '-', start with an alphabetic character, and end with an alphanumeric character \
                    (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    assert!(found.iter().any(|error| error == expected), "{found:#?}");
}

#[test]
fn errors_in_schemas_have_the_path_in_the_schema() {
    let schema = json!({ "type": "object", "properties": { "a.b]": { "type": "array", "items": { "oneOf": [{ "type": "x" }] } } } });
    let errors = validate(&crd(&schema));
    let of_type = errors.iter().find(|error| error.field.ends_with("oneOf[0].type")).unwrap();
    assert_eq!(of_type.field, "spec.validation.openAPIV3Schema.properties[a.b]].items.oneOf[0].type");
    let path = ["properties", "a.b]", "items", "oneOf", "0", "type"].map(str::to_owned);
    assert_eq!(of_type.schema_path(), Some((0, &path[..])));
}

#[test]
fn errors_in_per_version_schemas_have_the_index_of_the_version() {
    let mut crd = crd(&json!({ "type": "object" }));
    let other = json!({ "name": "v2", "served": true, "schema": { "openAPIV3Schema": { "type": "array" } } });
    crd["spec"]["versions"].as_array_mut().unwrap().push(other);
    let errors = validate(&crd);
    assert!(errors.iter().all(|error| error.schema_path().unwrap().0 == 1), "{errors:#?}");
    assert_eq!(errors[0].field, "spec.versions[1].schema.openAPIV3Schema.items");
}

#[test]
fn values_of_wrong_types_are_errors_of_gos_decoder() {
    let properties = "spec.versions.schema.openAPIV3Schema";
    for (schema, path, error) in [
        (
            json!({"type": "object", "properties": {"a.b": {"required": [true]}}}),
            "properties.a.b.required",
            format!("bool into Go struct field JSONSchemaProps.{properties}.properties.required of type string"),
        ),
        (
            json!({"type": "object", "properties": {"a": {"required": "b"}}}),
            "properties.a.required",
            format!("string into Go struct field JSONSchemaProps.{properties}.properties.required of type []string"),
        ),
        (
            json!({"type": "object", "properties": {"a": true}}),
            "properties.a",
            format!("bool into Go struct field JSONSchemaProps.{properties}.properties of type v1.JSONSchemaProps"),
        ),
        (
            json!({"type": "object", "properties": {"a": {"items": {"type": 1}}}}),
            "properties.a.items.type",
            "number into Go struct field JSONSchemaProps.type of type string".to_owned(),
        ),
    ] {
        let errors = validate(&crd(&schema));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].field, format!("spec.versions[0].schema.openAPIV3Schema.{path}"));
        assert!(errors[0].detail.ends_with(&format!("json: cannot unmarshal {error}")), "{}", errors[0].detail);
    }
}

#[test]
fn a_rule_that_does_not_compile_is_an_error_of_the_default_beside_it() {
    let rules = json!([{"rule": ">= 1"}]);
    let schema = json!({"type": "integer", "default": 1, "x-kubernetes-validations": rules});
    let errors = validate(&crd(&json!({"type": "object", "properties": {"a": schema}})));
    assert_eq!(errors.len(), 1, "{errors:?}");
    let error = errors[0].to_string();
    let expected = "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: \"integer\": rule compile error: \
                    compilation failed: ERROR: <input>:1:1: Syntax error: extraneous input '>=' expecting";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn unknown_fields_are_warnings_and_wrong_types_are_errors() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "maxLenght": 5 } } });
    let errors = validate(&crd(&schema));
    assert_eq!(errors.len(), 1);
    assert!(!errors[0].is_error());
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "maxLength": "5" } } });
    let errors = validate(&crd(&schema));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].error_type, ErrorType::BadRequest);
}

#[test]
fn a_pattern_that_cannot_be_enforced_is_a_warning_once() {
    let string = json!({ "type": "string", "pattern": r"^(\pL\pS\pP\pM){1000}$" });
    let schema = json!({ "type": "object", "properties": { "a": string, "b": string } });
    let errors = validate(&crd(&schema));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(!errors[0].is_error());
    assert!(errors[0].to_string().contains("is too large to be enforced here"), "{}", errors[0]);
    assert!(validate_update(&crd(&schema), &crd(&schema)).is_empty(), "the old definition has it");
}

fn lint_warnings(version: Value) -> Vec<String> {
    let mut crd = crd(&json!({ "type": "object", "properties": {
        "spec": { "type": "object", "properties": {
            "replicas": { "type": "integer" },
            "name": { "type": "string" },
            "port": { "x-kubernetes-int-or-string": true },
            "ports": { "type": "array", "items": { "type": "object", "properties": { "number": { "type": "integer" } } } },
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        } },
        "status": { "type": "object", "properties": { "readyReplicas": { "type": "integer" } } },
    } }));
    crd["spec"]["versions"][0].as_object_mut().unwrap().extend(version.as_object().unwrap().clone());
    lint(&crd).iter().map(|warning| warning.to_string()).collect()
}

#[test]
fn columns_that_do_not_match_the_schema_are_linted() {
    let warnings = |column_type: &str, path: &str| {
        let column = json!({ "name": "A", "type": column_type, "jsonPath": path });
        lint_warnings(json!({ "additionalPrinterColumns": [column] }))
    };
    for (column_type, path) in [
        ("integer", ".spec.replicas"),
        ("string", ".spec.ports"),
        ("integer", ".spec.ports[0].number"),
        ("integer", ".spec.ports[?(@.number==80)].number"),
        ("integer", ".spec.port"),
        ("string", r".spec.labels.a\.b"),
        ("boolean", ".spec.any.thing"),
        ("date", ".metadata.creationTimestamp"),
        ("string", ".metadata.annotations['a.b/c']"),
        ("string", ".kind"),
        ("string", "..name"),
    ] {
        assert_eq!(warnings(column_type, path), [""; 0], "{path}");
    }
    for (column_type, path, problem) in [
        ("integer", ".spec.replcas", ": `.spec` has no field `replcas`; did you mean `replicas`?"),
        (
            "integer",
            ".status.ready_replicas",
            ": `.status` has no field `ready_replicas`; did you mean `readyReplicas`?",
        ),
        ("integer", ".stats.readyReplicas", ": the object has no field `stats`; did you mean `status`?"),
        ("integer", ".spec.name", " has the type `string`, expected `integer`"),
        ("date", ".spec.replicas", " has the type `integer`, expected `string`"),
        ("integer", ".spec.ports.number", ": `.spec.ports` is a list; select an item, as in `.spec.ports[0].number`"),
        ("integer", ".spec.replicas[0]", ": `.spec.replicas` is not a list"),
        ("string", ".spec.name.first", ": `.spec.name` is of type string, and has no field `first`"),
        ("string", ".metadata.nam", ": `.metadata` has no field `nam`"),
    ] {
        let expected = format!("spec.versions[0].additionalPrinterColumns[0].jsonPath: `{path}`{problem}");
        assert_eq!(warnings(column_type, path), [expected]);
    }
}

#[test]
fn scale_paths_that_do_not_match_the_schema_are_linted() {
    let warnings = |scale: Value| lint_warnings(json!({ "subresources": { "status": {}, "scale": scale } }));
    let valid = json!({ "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.readyReplicas" });
    assert_eq!(warnings(valid), [""; 0]);
    let invalid = json!({
        "specReplicasPath": ".spec.name",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".spec.replicas",
    });
    let scale = "spec.versions[0].subresources.scale";
    assert_eq!(
        warnings(invalid),
        [
            format!("{scale}.specReplicasPath: `.spec.name` has the type `string`, expected `integer`"),
            format!(
                "{scale}.statusReplicasPath: `.status.replicas`: `.status` has no field `replicas`; did you mean `readyReplicas`?"
            ),
            format!("{scale}.labelSelectorPath: `.spec.replicas` has the type `integer`, expected `string`"),
        ]
    );
}

#[test]
fn json_paths_are_checked_against_a_schema() {
    let condition = json!({ "type": "object", "properties": { "status": { "type": "string" } } });
    let schema = json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": {
        "replicas": { "type": "integer" },
        "selector": { "type": "string" },
        "object": { "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
        "labels": { "type": "object", "additionalProperties": { "type": "string" } },
        "conditions": { "type": "array", "items": condition },
        "a.b": { "type": "boolean" },
    } } } });
    for (path, expected) in [
        (".spec.replicas", "integer"),
        (".spec.replicas", "string"),
        (".spec.selector", "selector"),
        (".spec.object.metadata.name", "integer"),
        (".spec.object.anything[0]", "date"),
        (".spec.*", "integer"),
        (".spec..any", "integer"),
        (".spec.labels['a.b/c']", "string"),
        (r".spec.a\.b", "boolean"),
        (".spec['a.b']", "boolean"),
        (".spec.conditions[?(@.type==\"Ready[]\")].status", "string"),
    ] {
        assert_eq!(check_json_path(&schema, path, expected), Ok(()), "{path}");
    }
    let error = check_json_path(&schema, ".spec.replicas", "selector").unwrap_err();
    assert_eq!(error, "`.spec.replicas` has the type `integer`, expected `string`");
    for (path, expected, message) in [
        (".spec.x", "string", "`.spec.x`: `.spec` has no field `x`"),
        (".spec.replicas", "boolean", "`.spec.replicas` has the type `integer`, expected `boolean`"),
        (".spec.labels.a", "integer", "`.spec.labels.a` has the type `string`, expected `integer`"),
        (
            ".spec.conditions[0].reason",
            "string",
            "`.spec.conditions[0].reason`: `.spec.conditions[]` has no field `reason`",
        ),
    ] {
        assert_eq!(check_json_path(&schema, path, expected), Err(message.to_owned()), "{path}");
    }
}

#[test]
fn lints_have_the_path_of_the_last_schema() {
    let mut crd = crd(&json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": {} } } }));
    crd["spec"]["versions"][0]["additionalPrinterColumns"] =
        json!([{ "name": "A", "type": "string", "jsonPath": ".spec.missing" }]);
    let warnings = lint(&crd);
    assert!(!warnings[0].is_error());
    assert_eq!(warnings[0].schema_path(), Some((0, &["properties".to_owned(), "spec".to_owned()][..])));
}

/// Any JSON, with keywords of definitions.
fn any_json() -> impl Strategy<Value = Value> {
    let keywords = prop::sample::select(vec![
        "type",
        "object",
        "array",
        "string",
        "properties",
        "items",
        "additionalProperties",
        "default",
        "metadata",
        "kind",
        "oneOf",
        "not",
        "pattern",
        "(?i)[a-",
        "enum",
        "required",
        "format",
        "date",
        "multipleOf",
        "spec",
        "versions",
        "schema",
        "openAPIV3Schema",
        "names",
        "x-kubernetes-list-type",
        "map",
        "x-kubernetes-list-map-keys",
        "é\\",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
        "fieldPath",
        "selectableFields",
        "jsonPath",
        ".a['",
        "conversion",
        "webhook",
        "clientConfig",
        "url",
        "http://[",
        "scale",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        keywords.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keywords.clone(), inner), 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_definition_causes_a_panic(schema in any_json(), other in any_json()) {
        let definition = crd(&schema);
        for new in [&definition, &schema] {
            validate(new).iter().for_each(|error| drop(error.to_string()));
            drop(validate_update(new, &crd(&other)));
            drop(lint(new));
        }
        let mut fields = serde_json::Map::from_iter([("spec".to_owned(), other)]);
        crate::value::prune(&mut fields.clone(), &schema);
        crate::value::prune_nulls(&mut fields, &schema);
        crate::value::default(&mut fields, &schema);
        drop(crate::value::validate_update(&fields, &fields, &schema));
        drop(crate::value::validate_embedded_resources(&fields, &schema));
        drop(crate::value::validate_list_sets_and_maps(&fields, &schema));
    }

    #[test]
    fn no_pattern_causes_a_panic(pattern in r"[\\()\[\]{}*+?|^$.,:<>=!a-zA-Z0-9é-]{0,16}") {
        let result = crate::pattern::Pattern::new(&pattern).map(|pattern| pattern.is_match("a"));
        prop_assert!(result.is_ok() || result.is_err_and(|error| error.to_string().starts_with("error parsing regexp: ")));
    }
}
