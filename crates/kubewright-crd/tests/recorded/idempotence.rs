//! The conversion of a structural schema is idempotent: tested with the definitions of this repository and, if
//! `CRD_CORPUS` is set, with those in that directory.

use std::{
    fs,
    path::{Path, PathBuf},
};

use kubewright_crd::structural::{self, Options};
use serde_json::Value;

/// Returns every YAML file below a directory.
fn yaml_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("the directory exists") {
        let path = entry.expect("the entry is readable").path();
        match path.extension() {
            _ if path.is_dir() => files.extend(yaml_files(&path)),
            Some(extension) if extension == "yaml" || extension == "yml" => files.push(path),
            _ => {}
        }
    }
    files
}

/// Removes the keyword that the conversion adds to objects without properties, because they accept any value in Rust.
fn normalize_objects_without_properties(schema: &mut Value) {
    if let Value::Object(node) = schema {
        if node.get("type").is_some_and(|name| name == "object") && !node.contains_key("properties") {
            node.remove("x-kubernetes-preserve-unknown-fields");
        }
        node.values_mut().for_each(normalize_objects_without_properties);
    } else if let Value::Array(all) = schema {
        all.iter_mut().for_each(normalize_objects_without_properties);
    }
}

fn assert_unchanged(file: &Path) {
    let text = fs::read_to_string(file).expect("the file is readable");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).expect("the file is YAML");
    for crd in documents.iter().filter(|document| document["kind"] == "CustomResourceDefinition") {
        for version in crd["spec"]["versions"].as_array().expect("the definition has versions") {
            let mut before = version["schema"]["openAPIV3Schema"].clone();
            let options = Options { allow_floats: true, ..Options::default() };
            let mut after = structural::convert(&before, &options).expect("the schema is structural").schema;
            normalize_objects_without_properties(&mut before);
            normalize_objects_without_properties(&mut after);
            assert_eq!(after, before, "{} of {}", version["name"], file.display());
        }
    }
}

#[test]
fn structural_schemas_are_unchanged() {
    let root = envtest::workspace_root().unwrap();
    let definitions = ["config/crd/bases", "tests/fixture/config/crd/bases"]
        .map(|directory| yaml_files(&root.join(directory)))
        .concat();
    assert!(definitions.len() > 10);
    definitions.iter().for_each(|file| assert_unchanged(file));
    match std::env::var_os("CRD_CORPUS") {
        Some(corpus) => yaml_files(Path::new(&corpus)).iter().for_each(|file| assert_unchanged(file)),
        None => eprintln!("SKIPPED: third-party definitions; set CRD_CORPUS to a directory of definitions"),
    }
}
