//! Definitions imported as Rust: the corpus in `tests/corpus/import` is imported as the modules beside this file, whose
//! types generate the corpus.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and the helpers of tests are part of them")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use logger_codegen::import::{Structs, differences, import, normal_form};
use logger_codegen::{Command, Crd, Import, Layout};
use serde_json::{Value, json};

#[rustfmt::skip]
#[path = "import/corpus_v1.rs"]
pub mod corpus_v1;
#[rustfmt::skip]
#[path = "import/corpus_v1beta1.rs"]
pub mod corpus_v1beta1;

/// The definitions that are imported, each with each keyword it can have.
fn corpus() -> Vec<Value> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/import");
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap()).collect()
}

/// What is generated of the modules beside this file.
fn generated() -> Vec<Value> {
    let groups = [corpus_v1::API_GROUP, corpus_v1beta1::API_GROUP];
    let files = logger_codegen::generate(&groups, &Layout::for_types_crate("import")).unwrap();
    let definitions = files.iter().filter(|file| file.path.ends_with(".yaml"));
    definitions.map(|file| serde_saphyr::from_str(&file.contents).unwrap()).collect()
}

/// `UPDATE_IMPORTED=1` writes the modules.
#[test]
fn the_modules_are_as_imported() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import");
    for module in import(&corpus(), Structs::OfKubernetes).unwrap() {
        let path = directory.join(format!("{}.rs", module.module));
        if env::var_os("UPDATE_IMPORTED").is_some() {
            fs::write(&path, &module.source).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap();
        assert!(found == module.source, "{}: run the test with UPDATE_IMPORTED=1, and again", path.display());
    }
}

#[test]
fn imported_types_generate_the_definitions_they_come_from() {
    for (original, generated) in corpus().iter().zip(generated()) {
        let differences = differences(&normal_form(original), &normal_form(&generated));
        assert!(differences.is_empty(), "{}:\n{}", original["metadata"]["name"], differences.join("\n"));
    }
}

/// Without a word of the server's: an object of the corpus is read, and written as it was.
#[test]
fn objects_are_read_and_written_as_they_were() {
    let object = json!({
        "apiVersion": "corpus.example.com/v1", "kind": "Gadget", "metadata": {"name": "a"},
        "spec": {
            "color": "red", "size": 3, "type": "*", "stamped": "2026-01-01T00:00:00Z", "replicas": 2, "self": false,
            "ratio": 0.5, "$ref": "b", "podIPs": ["1.2.3.4"], "hosts": ["c"], "open": {"known": "d", "more": {"e": [1]}},
            "ports": [{"name": "http", "protocol": "UDP", "target": "x", "weight": 6}], "action": {"move": {"to": "f"}},
            "window": "5%", "limits": {"cpu": "1"}, "bytes": "Zw==", "config": {"h": 1}, "empty": {},
            "shape": {"corner": {"radius": 1}},
        },
        "status": {"conditions": [{"type": "Ready", "since": "2026-01-01T00:00:00Z"}]},
    });
    let gadget: corpus_v1::Gadget = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(&gadget).unwrap(), object);
    assert_eq!(gadget.spec.action, Some(corpus_v1::Action::Move(corpus_v1::Move { to: "f".to_owned() })));
}

#[test]
fn absent_fields_have_the_defaults_of_the_definition() {
    let object = json!({
        "apiVersion": "corpus.example.com/v1", "kind": "Gadget", "metadata": {"name": "a"},
        "spec": {"color": "red", "size": 3, "stamped": "2026-01-01T00:00:00Z"},
    });
    let gadget: corpus_v1::Gadget = serde_json::from_value(object).unwrap();
    assert_eq!((gadget.spec.replicas, gadget.spec.self_, gadget.spec.r#type), (1, true, corpus_v1::SpecType::Big));
    assert_eq!(gadget.spec.ports[0].protocol, "TCP");
    assert_eq!(gadget.status.unwrap().replicas, Some(0));
}

/// A definition of one field.
fn with_field(schema: Value) -> Value {
    let spec = json!({"type": "object", "properties": {"it": schema}});
    with_schema(json!({"type": "object", "properties": {"spec": spec}}))
}

fn with_schema(schema: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

/// The mistakes of a definition, one on each line.
fn refused(definition: &Value) -> String {
    import(std::slice::from_ref(definition), Structs::OfKubernetes).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_kept_is_an_error_that_names_the_path() {
    for (schema, expected) in [
        (json!({}), "`widgets.example.com v1 .spec.it`: it has no `type`"),
        (json!({"type": "integer", "format": "int16"}), "it`: the API server knows no format `int16` of numbers"),
        (json!({"type": "string", "format": "made-up"}), "the generator writes `format` otherwise"),
        (json!({"type": "array"}), "it is a list, and says not of what"),
        (json!({"type": "null"}), "`null` is no type"),
        (json!({"type": "string", "const": "a"}), "const"),
        (json!({"type": "string", "default": 1}), "its default is 1"),
        (json!({"type": "string", "enum": ["a"], "nullable": true}), "no null where there is an `enum`"),
        (json!({"type": "object", "required": ["a"], "properties": {"b": {"type": "string"}}}), "`a` is required"),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}, "properties": {"b": {"type": "string"}}}),
            "give the map a field of its own",
        ),
        (json!({"type": "array", "items": {"type": "string", "default": "a"}}), "only a field has a default"),
        (json!({"type": "string", "allOf": [{"maxLength": 3}]}), "the generator writes `allOf` otherwise"),
    ] {
        let told = refused(&with_field(schema.clone()));
        assert!(told.contains(expected) && told.contains(".spec"), "{schema}: {told}");
    }
}

#[test]
fn what_a_definition_says_of_itself_is_kept_or_refused() {
    for (pointer, value, expected) in [
        ("/spec/conversion", json!({"strategy": "Webhook"}), "`widgets.example.com .spec.conversion`"),
        ("/spec/preserveUnknownFields", json!(true), ".spec.preserveUnknownFields"),
        ("/spec/scope", json!("World"), "expected `Cluster` or `Namespaced`"),
        ("/spec/names/kind", json!("widget-kind"), "no name of a Rust type"),
        ("/metadata/name", json!("other.example.com"), "the server takes the name `widgets.example.com` only"),
        ("/spec/versions/0/deprecationWarning", json!("old"), "not deprecated"),
        (
            "/spec/versions/0/additionalPrinterColumns",
            json!([{"name": "A", "type": "text", "jsonPath": ".a"}]),
            "`text`",
        ),
    ] {
        let mut definition = with_field(json!({"type": "string"}));
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        definition.pointer_mut(parent).unwrap()[key] = value;
        let told = refused(&definition);
        assert!(told.contains(expected), "{pointer}: {told}");
    }
}

#[test]
fn nothing_makes_it_panic() {
    let odd =
        [json!(null), json!(true), json!(-1), json!("\u{0}\r"), json!([]), json!({}), json!([{}]), json!({"a": null})];
    let keys = [
        "type",
        "properties",
        "items",
        "required",
        "enum",
        "default",
        "oneOf",
        "anyOf",
        "not",
        "nullable",
        "description",
        "additionalProperties",
        "x-kubernetes-validations",
        "x-kubernetes-list-type",
        "x-kubernetes-int-or-string",
        "minLength",
        "maximum",
        "externalDocs",
        "example",
        "format",
        "pattern",
    ];
    for own in ["string", "object", "array", "integer", "number", "boolean"] {
        for key in keys {
            for value in &odd {
                let mut schema = json!({"type": own, "items": {"type": "string"}});
                schema[key] = value.clone();
                drop(import(&[with_field(schema.clone())], Structs::Own));
                drop(import(&[with_schema(schema)], Structs::OfKubernetes));
            }
        }
    }
    for definition in odd {
        drop(import(&[definition], Structs::Own));
    }
}

#[test]
fn the_command_writes_modules_and_overwrites_none() {
    let directory = tempfile::tempdir().unwrap();
    let (file, out) = (directory.path().join("crd.yaml"), directory.path().join("src"));
    fs::write(&file, with_field(json!({"type": "string"})).to_string()).unwrap();
    let import = |file: &Path| {
        let import = Import { files: vec![file.to_owned()], out: Some(out.clone()), ..Import::default() };
        Command::Crd(Crd::Import(import)).run(&[])
    };
    assert_eq!(import(&file), ExitCode::SUCCESS);
    let module = fs::read_to_string(out.join("example_v1.rs")).unwrap();
    assert!(module.contains("pub struct WidgetSpec") && module.contains("pub it: Option<String>"), "{module}");
    assert_eq!(import(&file), ExitCode::from(2), "the module is there");
    fs::write(&file, "kind: List\nitems: []").unwrap();
    assert_eq!(import(&file), ExitCode::from(2), "there is no definition");
}
