//! `crd import`: the corpus in `tests/corpus/import` is imported as modules of this directory, whose types generate the
//! corpus.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and the helpers of tests are part of them")]

mod directories;
mod project;
mod random;
mod round_trip;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, ExitCode},
};

use kubewright_codegen::{
    Command, Crd, Import, ImportedModule, Layout, generate_with_warnings,
    internal::{KubernetesTypes, differences, import, normalize},
};
use serde_json::{Value, json};

#[rustfmt::skip]
pub mod corpus_v1;
#[rustfmt::skip]
pub mod corpus_v1beta1;

/// Returns the definitions of the corpus, which contain every keyword.
fn corpus() -> Vec<Value> {
    let directory = directories::package().join("../../tests/corpus/import");
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap()).collect()
}

/// Returns the definitions that the imported modules generate.
fn generated() -> Vec<Value> {
    let groups = [corpus_v1::API_GROUP, corpus_v1beta1::API_GROUP];
    let files = kubewright_codegen::generate(&groups, &Layout::for_types_crate("import")).unwrap();
    let definitions = files.iter().filter(|file| file.path.ends_with(".yaml"));
    definitions.map(|file| serde_saphyr::from_str(&file.contents).unwrap()).collect()
}

/// `UPDATE_IMPORTED=1` updates the modules.
#[test]
fn the_modules_are_up_to_date() {
    let directory = directories::package().join("tests/import");
    for module in import(&corpus(), KubernetesTypes::Reuse).unwrap() {
        let path = directory.join(format!("{}.rs", module.module));
        if env::var_os("UPDATE_IMPORTED").is_some() {
            fs::write(&path, &module.source).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap();
        assert!(found == module.source, "{}: run the test with UPDATE_IMPORTED=1, then again", path.display());
    }
}

#[test]
fn imported_types_generate_the_definitions_they_come_from() {
    for (original, generated) in corpus().iter().zip(generated()) {
        let differences = differences(&normalize(original), &normalize(&generated));
        assert!(differences.is_empty(), "{}:\n{}", original["metadata"]["name"], differences.join("\n"));
    }
}

#[test]
fn names_in_snake_case_cause_no_warning() {
    let generated = generate_with_warnings(&[corpus_v1::API_GROUP], &Layout::for_types_crate("import")).unwrap();
    let warnings: Vec<String> = generated.warnings.iter().map(ToString::to_string).collect();
    assert!(!warnings.iter().any(|warning| warning.contains("snake case")), "{warnings:?}");

    let names = json!({"max_load": {"type": "string"}, "min_load": {"type": "string"}});
    let module = import_one(&with_field(json!({"type": "object", "properties": names})));
    for name in ["max_load", "min_load"] {
        let field = format!("#[serde(rename = \"{name}\")]\n    pub {name}: Option<String>,");
        assert!(module.source.contains(&field), "{}", module.source);
    }
}

#[test]
fn objects_are_the_same_after_decoding_and_encoding() {
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

/// Returns a definition with one field.
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

fn import_one(definition: &Value) -> ImportedModule {
    import(std::slice::from_ref(definition), KubernetesTypes::Reuse).unwrap().remove(0)
}

/// Returns the errors of a definition, one on each line.
fn errors(definition: &Value) -> String {
    import(std::slice::from_ref(definition), KubernetesTypes::Reuse).unwrap_err().to_string()
}

#[test]
fn what_types_do_not_express_is_preserved_by_overrides() {
    let exclusive = json!([{"required": ["a"], "properties": {"a": {"minLength": 1}}}, {"required": ["b"]}]);
    let properties = json!({"a": {"type": "string"}, "b": {"type": "string"}});
    for (schema, keywords, ty) in [
        (json!({"type": "integer", "format": "int16"}), "`format`", "i64"),
        (json!({"type": "string", "format": "made-up"}), "`format`", "String"),
        (json!({"type": "string", "enum": ["a"], "nullable": true}), "`nullable`", "It"),
        (json!({"type": "string", "allOf": [{"maxLength": 3}]}), "`allOf`", "String"),
        (json!({"type": "string", "allOf": [{"maxLength": 3}, {"maxLength": 3}]}), "`allOf`", "String"),
        (
            json!({"type": "array", "items": {"type": "string"}, "minLength": 3, "pattern": "a"}),
            "`pattern`",
            "Vec<String>",
        ),
        (json!({"type": "object", "properties": properties, "oneOf": exclusive}), "", "It"),
        (json!({"x-kubernetes-int-or-string": true, "default": 80}), "", "IntOrString"),
        (json!({"type": "object", "required": ["c"], "properties": properties}), "`required`", "It"),
        (json!({"type": "string", "maxLength": 4_294_967_296_u64}), "`maxLength`", "String"),
    ] {
        let module = import_one(&with_field(schema.clone()));
        let note = module.notes.iter().find(|note| note.starts_with("`widgets.example.com v1 .spec.it`: "));
        match keywords {
            "" => assert!(module.notes.is_empty(), "{schema}: {:?}", module.notes),
            keywords => assert!(note.is_some_and(|note| note.contains(keywords)), "{schema}: {:?}", module.notes),
        }
        assert_eq!(
            module.source.contains("x-kubewright-override"),
            !keywords.is_empty(),
            "{schema}: {}",
            module.source
        );
        assert!(module.source.contains(&format!("pub it: Option<{ty}>")) || keywords.is_empty(), "{}", module.source);
    }
}

#[test]
fn defaults_have_the_type_of_the_definition() {
    let quantity = json!({"x-kubernetes-int-or-string": true, "default": 5, "pattern": quantity_pattern()});
    let module = import_one(&with_field(quantity));
    assert!(module.source.contains(r#"extend("x-kubewright-override" = {"":{"default":5}})"#), "{}", module.source);
}

fn quantity_pattern() -> Value {
    let gadgets = &corpus()[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    gadgets["spec"]["properties"]["limits"]["additionalProperties"]["pattern"].clone()
}

#[test]
fn what_attributes_of_a_kind_do_not_express_is_preserved_by_overrides() {
    let webhook = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com/convert"},
    }});
    let columns = json!([{"name": "A", "type": "string", "jsonPath": ".spec.misspelt"}]);
    for (pointer, value, expected) in [
        ("/spec/conversion", webhook, "\"definition\""),
        ("/spec/names/shortNames", json!(["a", "a"]), "\"definition\""),
        ("/spec/versions/0/additionalPrinterColumns", columns, "\"version\""),
    ] {
        let mut definition = with_field(json!({"type": "string"}));
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        definition.pointer_mut(parent).unwrap()[key] = value;
        let module = import_one(&definition);
        assert!(module.source.contains(expected) && !module.notes.is_empty(), "{pointer}: {}", module.source);
    }
}

#[test]
fn kinds_and_versions_may_have_any_name() {
    let mut definition = with_field(json!({"type": "array", "items": {"type": "string"}}));
    definition["spec"]["names"]["kind"] = json!("Vec");
    definition["spec"]["names"]["listKind"] = json!("Option");
    definition["spec"]["versions"][0]["name"] = json!("v1-beta");
    let module = import_one(&definition);
    assert_eq!(module.module, "example_v1_beta");
    assert!(module.source.contains("pub it: ::std::option::Option<::std::vec::Vec<String>>"), "{}", module.source);
}

#[test]
fn kinds_that_are_not_names_of_types_are_declared() {
    for (kind, list_kind, types, list, is_list_declared) in [
        ("widget", "widgetList", ["Widget", "WidgetSpec"], None, false),
        ("Foo-Bar", "Foo-BarList", ["FooBar", "FooBarSpec"], None, false),
        ("Foo-Bar", "foo-bars", ["FooBar", "FooBarSpec"], Some("FooBars"), true),
        ("widget", "WidgetList", ["Widget", "WidgetSpec"], Some("WidgetList"), true),
        ("widget", "Widget", ["Widget2", "Widget2Spec"], Some("Widget"), false),
        ("Self", "Selves", ["Itself", "ItselfSpec"], Some("Selves"), false),
    ] {
        let mut definition = with_field(json!({"type": "string"}));
        definition["spec"]["names"] = json!({"kind": kind, "listKind": list_kind, "plural": "widgets"});
        let source = import_one(&definition).source;
        let list_key = list.map_or_else(String::new, |list| format!("list = {list}, "));
        assert!(source.contains(&format!("#[k8s(kind = \"{kind}\", {list_key}plural = \"widgets\")]")), "{source}");
        let types = types.into_iter().chain(list).collect::<Vec<_>>();
        assert!(types.iter().all(|name| source.contains(&format!("pub struct {name} {{"))), "{source}");
        assert_eq!(source.matches("pub struct").count(), types.len(), "{source}");
        assert_eq!(source.contains(&format!("#[k8s(kind = \"{list_kind}\")]")), is_list_declared, "{source}");
    }
}

#[test]
fn what_the_server_rejects_is_an_error_with_its_message() {
    for (pointer, value, expected) in [
        ("/spec/preserveUnknownFields", json!(true), "spec.preserveUnknownFields: Invalid value"),
        ("/spec/versions/0/name", json!("2024"), "spec.versions[0].name: Invalid value: \"2024\""),
        ("/spec/scope", json!("World"), "spec.scope: Unsupported value: \"World\""),
        ("/metadata/name", json!("other.example.com"), "metadata.name: Invalid value"),
        (
            "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/it/type",
            json!("text"),
            "Unsupported value",
        ),
    ] {
        let mut definition = with_field(json!({"type": "string"}));
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        definition.pointer_mut(parent).unwrap()[key] = value;
        let errors = errors(&definition);
        assert!(
            errors.contains("the API server would reject it: ") && errors.contains(expected),
            "{pointer}: {errors}"
        );
    }
}

#[test]
fn invalid_definitions_do_not_panic() {
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
    for json_type in ["string", "object", "array", "integer", "number", "boolean"] {
        for key in keys {
            for value in &odd {
                let mut schema = json!({"type": json_type, "items": {"type": "string"}});
                schema[key] = value.clone();
                drop(import(&[with_field(schema.clone())], KubernetesTypes::Generate));
                drop(import(&[with_schema(schema)], KubernetesTypes::Reuse));
            }
        }
    }
    for definition in odd {
        drop(import(&[definition], KubernetesTypes::Generate));
    }
}

#[test]
fn rustfmt_does_not_change_the_written_modules() {
    let corpus = directories::package().join("../../tests/corpus/import");
    let files: Vec<_> = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    for settings in ["", "max_width = 120\nuse_small_heuristics = \"Max\"\n"] {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join("rustfmt.toml"), settings).unwrap();
        let out = project.path().join("src");
        let import = Import { files: files.clone(), out: Some(out.clone()), ..Import::default() };
        assert_eq!(Command::Crd(Crd::Import(import)).run(&[]), ExitCode::SUCCESS);
        let modules: Vec<_> = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(modules.len(), 2, "{modules:?}");
        let checked = process::Command::new("rustfmt").args(["--check", "--edition", "2024"]).args(&modules).output();
        let checked = checked.unwrap();
        assert!(checked.status.success(), "{settings}{}", String::from_utf8_lossy(&checked.stdout));
    }
}

#[test]
fn the_command_does_not_overwrite_modules() {
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
    assert_eq!(import(&file), ExitCode::from(2), "the module exists");
    fs::write(&file, "kind: List\nitems: []").unwrap();
    assert_eq!(import(&file), ExitCode::from(2), "there is no definition");
}
