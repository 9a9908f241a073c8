//! Random definitions: each that the API server accepts is imported, and the types generate an equal definition.
//!
//! Many definitions are imported, and a batch of them is compiled. They are derived from a fixed seed.
//! `IMPORT_RANDOM=1000` imports and compiles 1000 definitions from a random seed, which a failure prints;
//! `IMPORT_RANDOM_SEED` sets it.

use std::env;

use kubewright_codegen::internal::{KubernetesTypes, differences, import, normalize};
use proptest::{
    prelude::*,
    sample::select,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Map, Value, json};

use crate::project::round_trip;

/// The number of definitions that are imported but not compiled.
const IMPORTED: usize = 150;
/// The number of definitions in each compiled crate.
const BATCH: usize = 12;

/// Names of fields, many of which are not Rust identifiers or collide with each other.
const FIELDS: &[&str] = &[
    "$ref",
    "5xx",
    "A",
    "Self",
    "a",
    "a-b",
    "a.b",
    "a.b/c-d",
    "aB",
    "a_b",
    "apiVersion",
    "clusterIPs",
    "crate",
    "enum",
    "fn",
    "kind",
    "maxSize",
    "metadata",
    "name",
    "no",
    "null",
    "on",
    "other",
    "self",
    "status",
    "true",
    "type",
    "with_name",
    "x/y",
    "y",
    "~",
    "é",
];

/// Kinds, many of which have the name of a standard type, and some of which are not names of types.
const KINDS: &[&str] = &[
    "Box",
    "Clone",
    "DeepCopy",
    "Default",
    "Deserialize",
    "Err",
    "Foo-Bar",
    "HTTPRoute",
    "ListMeta",
    "None",
    "Object",
    "ObjectMeta",
    "Option",
    "Result",
    "S",
    "Self",
    "Some",
    "String",
    "Value",
    "Vec",
    "Widget",
    "widget",
];

const VERSIONS: &[&str] = &["v1", "v1beta1", "v2alpha1"];

const TEXTS: &[&str] = &[
    "",
    " padded",
    "# A title",
    "A text.",
    "A text.\n\nWith a second paragraph.\n```\ncode\n```",
    "Quotes \" and \\.",
    "a\ttab",
    "ends with a line\n",
    "trailing \nspace",
];

/// Settings from the environment.
struct Settings {
    count: Option<usize>,
    seed: u64,
}

impl Settings {
    fn read() -> Self {
        let number = |name: &str| env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
        let count = number("IMPORT_RANDOM").map(|count| usize::try_from(count).unwrap());
        let random = || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            u64::from(now.subsec_nanos())
        };
        let seed = number("IMPORT_RANDOM_SEED").unwrap_or_else(|| if count.is_some() { random() } else { 7 });
        Settings { count, seed }
    }
}

/// Returns the definitions of a seed that the API server accepts.
fn definitions(seed: u64, count: usize) -> Vec<Value> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = definition();
    let mut found = Vec::new();
    for number in 0.. {
        assert!(number < 50 * count + 100, "too few of the definitions are valid: {} of {number}", found.len());
        let mut definition = strategy.new_tree(&mut runner).unwrap().current();
        set_group(&mut definition, number);
        match import(std::slice::from_ref(&definition), KubernetesTypes::Generate) {
            Ok(_) => found.push(definition),
            Err(errors) => {
                let is_rejected =
                    errors.0.iter().all(|error| error.message.starts_with("the API server would reject it"));
                assert!(is_rejected, "seed {seed}: {errors}\n{definition:#}");
            }
        }
        if found.len() == count {
            break;
        }
    }
    found
}

/// Gives each definition its own group, and so its own module.
fn set_group(definition: &mut Value, number: usize) {
    let group = format!("g{number}.example.com");
    definition["metadata"]["name"] = json!(format!("widgets.{group}"));
    definition["spec"]["group"] = json!(group);
}

#[test]
fn random_definitions_are_imported() {
    let Settings { count, seed } = Settings::read();
    definitions(seed, count.unwrap_or(IMPORTED));
}

#[test]
fn random_definitions_are_generated_again() {
    let Settings { count, seed } = Settings::read();
    // Most of the time is spent on compiling the crates.
    for batch in definitions(seed, count.unwrap_or(BATCH)).chunks(BATCH * 4) {
        let generated = round_trip("random", batch, KubernetesTypes::Reuse);
        for original in batch {
            let name = original["metadata"]["name"].as_str().unwrap();
            let mut differences = differences(&normalize(original), &normalize(&generated[name]));
            differences.retain(|difference| !is_of_kubernetes_type(difference));
            assert!(differences.is_empty(), "seed {seed}: {differences:#?}\n{original:#}");
        }
    }
}

/// Descriptions within Kubernetes types are those of k8s-openapi. Random schemas rarely equal one.
fn is_of_kubernetes_type(difference: &str) -> bool {
    difference.split(": ").next().unwrap_or_default().ends_with(".description") && difference.contains("labelSelector")
}

fn definition() -> impl Strategy<Value = Value> {
    let names = (select(KINDS), prop::bool::ANY, prop::bool::ANY);
    let versions = prop::collection::vec(version(), 1..3);
    (names, versions, prop::bool::ANY, prop::option::weighted(0.2, Just(()))).prop_map(
        |((kind, has_short_names, has_labels), mut versions, namespaced, conversion)| {
            for (i, version) in versions.iter_mut().enumerate() {
                version["name"] = json!(VERSIONS[i]);
                version["storage"] = json!(i == 0);
            }
            let mut names = json!({"kind": kind, "plural": "widgets", "singular": "widget"});
            if has_short_names {
                names["shortNames"] = json!(["wg", "w"]);
            }
            let scope = if namespaced { "Namespaced" } else { "Cluster" };
            let mut spec = json!({"names": names, "scope": scope, "versions": versions});
            if conversion.is_some() {
                spec["conversion"] = json!({"strategy": "Webhook", "webhook": {
                    "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com/convert"},
                }});
            }
            let mut metadata = json!({});
            if has_labels {
                metadata["labels"] = json!({"app": "widgets"});
                metadata["annotations"] = json!({"example.com/a": "b=c \"d\""});
            }
            json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
                "spec": spec,
            })
        },
    )
}

fn version() -> impl Strategy<Value = Value> {
    let fields = prop::collection::btree_map(select(&["data", "spec", "status", "other", "Kind"][..]), schema(), 0..4);
    (fields, prop::bool::ANY, prop::bool::ANY, select(TEXTS), prop::bool::ANY, 0..4).prop_map(
        |(fields, has_status, served, docs, has_columns, deprecated)| {
            let properties: Map<String, Value> =
                fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
            let mut root = json!({"type": "object", "properties": properties});
            if !docs.is_empty() {
                root["description"] = json!(docs);
            }
            let mut version = json!({"served": served, "schema": {"openAPIV3Schema": root}});
            if has_status {
                version["subresources"] = json!({"status": {}});
            }
            if has_columns {
                version["additionalPrinterColumns"] = json!([
                    {"name": "A", "type": "integer", "jsonPath": ".spec.a", "priority": 1},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "description": docs},
                ]);
            }
            if deprecated == 0 {
                version["deprecated"] = json!(true);
                version["deprecationWarning"] = json!("use  another");
            }
            version
        },
    )
}

/// A schema, most of which are valid.
fn schema() -> BoxedStrategy<Value> {
    leaf()
        .prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                4 => object(inner.clone()),
                2 => array(inner.clone()),
                1 => deep(inner.clone()),
                1 => (inner, decoration()).prop_map(|(values, decoration)| {
                    with(json!({"type": "object", "additionalProperties": without_default(values)}), decoration)
                }),
            ]
        })
        .boxed()
}

fn leaf() -> BoxedStrategy<Value> {
    let words = prop::collection::btree_set(select(&["", "*", "A", "GET", "Self", "a", "a-b", "v1"][..]), 1..4);
    let strings = prop_oneof![
        4 => Just(json!({"type": "string"})),
        1 => select(&["date-time", "byte", "date", "made-up", "uri"][..]).prop_map(|format| json!({"type": "string", "format": format})),
        2 => words.prop_map(|words| json!({"type": "string", "enum": words})),
    ];
    let numbers = select(&["", "int32", "int64", "int16", "float", "double"][..]);
    let numbers = (select(&["integer", "number"][..]), numbers).prop_map(|(ty, format)| match format {
        "" => json!({"type": ty}),
        format => json!({"type": ty, "format": format}),
    });
    let others = select(vec![
        json!({"type": "boolean"}),
        json!({"x-kubernetes-int-or-string": true}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!({"x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "object"}),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "array", "items": {"type": "string", "description": "An item."}}),
    ]);
    let leaves = prop_oneof![4 => strings, 3 => numbers, 3 => others];
    (leaves, decoration()).prop_map(|(schema, decoration)| with(schema, decoration)).boxed()
}

fn object(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let fields = prop::collection::btree_map(select(FIELDS), inner, 1..5);
    (fields, prop::collection::vec(0..8_usize, 0..3), decoration(), 0..8)
        .prop_map(|(fields, required, decoration, kind)| {
            let names: Vec<&str> = fields.keys().copied().collect();
            let required: Vec<&str> = required.iter().filter_map(|i| names.get(*i).copied()).collect();
            let properties: Map<String, Value> =
                fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
            let mut schema = json!({"type": "object", "properties": properties});
            if !required.is_empty() {
                schema["required"] = json!(required);
            }
            let alternatives: Vec<Value> = names.iter().map(|name| json!({"required": [name]})).collect();
            match kind {
                0 => schema["oneOf"] = json!(alternatives),
                1 => schema["anyOf"] = json!([alternatives[0], {"properties": {names[0]: {"maxLength": 3}}}]),
                2 => schema["x-kubernetes-preserve-unknown-fields"] = json!(true),
                3 => schema["required"] = json!(["missing"]),
                4 => {
                    schema["properties"][names[0]]["nullable"] = json!(true);
                    schema["required"] = json!([names[0]]);
                }
                _ => {}
            }
            with(schema, decoration)
        })
        .boxed()
}

/// A schema below many objects and lists, some of which preserve unknown fields.
fn deep(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let levels = prop::collection::vec((select(FIELDS), 0..6), 10..30);
    (inner, levels)
        .prop_map(|(inner, levels)| {
            levels.into_iter().fold(inner, |schema, (name, kind)| {
                let mut object = json!({"type": "object", "properties": {name: without_default(schema)}});
                match kind {
                    0 => return json!({"type": "array", "items": object}),
                    1 => return json!({"type": "object", "additionalProperties": object}),
                    2 => object["x-kubernetes-preserve-unknown-fields"] = json!(true),
                    3 => object["required"] = json!([name]),
                    _ => {}
                }
                object
            })
        })
        .boxed()
}

fn array(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    (inner, 0..4, decoration())
        .prop_map(|(items, list_type, decoration)| {
            let mut schema = json!({"type": "array", "items": items});
            let keys = schema["items"]["required"].clone();
            match list_type {
                0 => schema["x-kubernetes-list-type"] = json!("atomic"),
                1 => schema["x-kubernetes-list-type"] = json!("set"),
                2 if keys.is_array() => {
                    schema["x-kubernetes-list-type"] = json!("map");
                    schema["x-kubernetes-list-map-keys"] = keys;
                }
                _ => {}
            }
            with(schema, decoration)
        })
        .boxed()
}

/// Keywords beside the type of a schema. Few of them apply to its type.
fn decoration() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let texts = || select(TEXTS).prop_map(|text| json!(text));
    let counts = || select(vec![json!(0), json!(1), json!(3), json!(4_294_967_296_u64)]);
    let numbers = || select(vec![json!(-1), json!(0), json!(2), json!(0.5), json!(5_000_000_000_i64), json!(1e300)]);
    let keyword = prop_oneof![
        4 => texts().prop_map(|text| ("description", text)),
        1 => texts().prop_map(|text| ("title", text)),
        2 => Just(("nullable", json!(true))),
        1 => Just(("example", json!({"a": [1, null, -5_000_000_000_i64]}))),
        1 => Just(("externalDocs", json!({"url": "https://example.com", "description": "More."}))),
        1 => Just(("externalDocs", json!({"description": "More."}))),
        3 => default().prop_map(|default| ("default", default)),
        2 => numbers().prop_map(|number| ("minimum", number)),
        2 => numbers().prop_map(|number| ("maximum", number)),
        1 => Just(("exclusiveMinimum", json!(true))),
        1 => Just(("multipleOf", json!(2))),
        1 => counts().prop_map(|count| ("minLength", count)),
        2 => counts().prop_map(|count| ("maxLength", count)),
        1 => Just(("pattern", json!("^[a-z\"\\\\]*$"))),
        1 => counts().prop_map(|count| ("minItems", count)),
        1 => counts().prop_map(|count| ("maxItems", count)),
        1 => counts().prop_map(|count| ("maxProperties", count)),
        1 => Just(("x-kubernetes-map-type", json!("atomic"))),
        1 => Just(("allOf", json!([{"maxLength": 3}, {"maxLength": 3}]))),
        1 => Just(("allOf", json!([{"maximum": 9}]))),
        1 => Just(("oneOf", json!([{"minLength": 1}, {"maximum": 3}]))),
        1 => Just(("not", json!({"minLength": 2}))),
        1 => Just(("anyOf", json!([{"enum": ["a", 1]}, {}]))),
        1 => Just(("x-kubernetes-validations", json!([{"rule": "true", "message": "never \"fails\""}]))),
        1 => Just(("x-kubernetes-validations", json!([{"rule": "self == oldSelf", "reason": "FieldValueForbidden"}]))),
    ];
    prop::collection::vec(keyword, 0..4)
}

fn default() -> impl Strategy<Value = Value> {
    select(vec![
        json!(""),
        json!("a"),
        json!("2026-01-01T00:00:00Z"),
        json!("Zw=="),
        json!(0),
        json!(7),
        json!(-5_000_000_000_i64),
        json!(0.1),
        json!(true),
        json!([]),
        json!(["a"]),
        json!({}),
        json!({"a": "b"}),
        json!({"a": 1}),
        json!([{}]),
    ])
}

fn with(mut schema: Value, decoration: Vec<(&'static str, Value)>) -> Value {
    for (keyword, value) in decoration {
        if schema.get(keyword).is_none() {
            schema[keyword] = value;
        }
    }
    schema
}

fn without_default(mut schema: Value) -> Value {
    schema.as_object_mut().unwrap().remove("default");
    schema
}
