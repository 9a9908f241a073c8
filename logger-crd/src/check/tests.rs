//! What callers of the checker rely on beside the verdicts, which the corpus in `tests/corpus/definitions` holds.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

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
fn a_finding_reads_as_the_server_writes_it() {
    let mut crd = crd(&json!({ "type": "object" }));
    crd["spec"]["names"]["plural"] = json!("X");
    let found: Vec<String> = definition(&crd).iter().map(ToString::to_string).collect();
    let expected = "spec.names.plural: Invalid value: \"X\": a DNS-1035 label must consist of lower case alphanumeric \
                    characters or '-', start with an alphabetic character, and end with an alphanumeric character \
                    (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    assert!(found.iter().any(|finding| finding == expected), "{found:#?}");
}

#[test]
fn a_finding_in_a_schema_knows_the_way_in_the_schema() {
    let schema = json!({ "type": "object", "properties": { "a.b]": { "type": "array", "items": { "oneOf": [{ "type": "x" }] } } } });
    let findings = definition(&crd(&schema));
    let of_type = findings.iter().find(|finding| finding.path.ends_with("oneOf[0].type")).unwrap();
    assert_eq!(of_type.path, "spec.validation.openAPIV3Schema.properties[a.b]].items.oneOf[0].type");
    let path = ["properties", "a.b]", "items", "oneOf", "0", "type"].map(str::to_owned);
    assert_eq!(of_type.schema_path(), Some((0, &path[..])));
}

#[test]
fn a_version_with_a_schema_of_its_own_is_named() {
    let mut crd = crd(&json!({ "type": "object" }));
    let other = json!({ "name": "v2", "served": true, "schema": { "openAPIV3Schema": { "type": "array" } } });
    crd["spec"]["versions"].as_array_mut().unwrap().push(other);
    let findings = definition(&crd);
    assert!(findings.iter().all(|finding| finding.schema_path().unwrap().0 == 1), "{findings:#?}");
    assert_eq!(findings[0].path, "spec.versions[1].schema.openAPIV3Schema.items");
}

#[test]
fn what_is_unknown_is_warned_of_and_what_is_unreadable_refused() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "maxLenght": 5 } } });
    let findings = definition(&crd(&schema));
    assert_eq!(findings.len(), 1);
    assert!(!findings[0].is_refusal());
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "maxLength": "5" } } });
    let findings = definition(&crd(&schema));
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].reason, Reason::Undecodable);
}

/// JSON of the words that definitions are made of, in any order.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
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
        words.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(schema in any_json(), other in any_json()) {
        let in_place = crd(&schema);
        for new in [&in_place, &schema] {
            definition(new).iter().for_each(|finding| drop(finding.to_string()));
            drop(update(new, &crd(&other)));
        }
        let mut fields = serde_json::Map::from_iter([("spec".to_owned(), other)]);
        crate::value::prune(&mut fields.clone(), &schema);
        crate::value::drop_nulls(&mut fields, &schema);
        crate::value::default(&mut fields, &schema);
        drop(crate::value::validate_update(&fields, &fields, &schema));
        drop(crate::value::embedded_resources(&fields, &schema));
        drop(crate::value::duplicates(&fields, &schema));
    }

    #[test]
    fn no_pattern_makes_it_panic(pattern in r"[\\()\[\]{}*+?|^$.,:<>=!a-zA-Z0-9é-]{0,16}") {
        let found = crate::pattern::Pattern::new(&pattern).map(|pattern| pattern.is_match("a"));
        prop_assert!(found.is_ok() || found.is_err_and(|error| error.to_string().starts_with("error parsing regexp: ")));
    }
}
