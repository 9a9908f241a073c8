//! What is structural already stays as it is: the definitions of this repository and, where `CRD_CORPUS` names a directory,
//! those below it.

use std::fs;
use std::path::{Path, PathBuf};

use logger_crd::structural::{Options, structural};
use serde_json::Value;

/// Every YAML file below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("the directory is there") {
        let path = entry.expect("an entry").path();
        match path.extension() {
            _ if path.is_dir() => found.extend(files(&path)),
            Some(extension) if extension == "yaml" || extension == "yml" => found.push(path),
            _ => {}
        }
    }
    found
}

/// An object that says nothing takes any value in Rust, so it is written with the word that says so.
fn without_bare_objects(schema: &mut Value) {
    if let Value::Object(node) = schema {
        if node.get("type").is_some_and(|own| own == "object") && !node.contains_key("properties") {
            node.remove("x-kubernetes-preserve-unknown-fields");
        }
        node.values_mut().for_each(without_bare_objects);
    } else if let Value::Array(all) = schema {
        all.iter_mut().for_each(without_bare_objects);
    }
}

fn stays(file: &Path) {
    let text = fs::read_to_string(file).expect("the file can be read");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).expect("it is YAML");
    for crd in documents.iter().filter(|document| document["kind"] == "CustomResourceDefinition") {
        for version in crd["spec"]["versions"].as_array().expect("it has versions") {
            let mut before = version["schema"]["openAPIV3Schema"].clone();
            let options = Options { allow_floats: true, ..Options::default() };
            let mut after = structural(&before, &options).expect("the server takes it").schema;
            without_bare_objects(&mut before);
            without_bare_objects(&mut after);
            assert_eq!(after, before, "{} of {}", version["name"], file.display());
        }
    }
}

#[test]
fn what_is_structural_stays_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let own =
        ["config/crd/bases", "tests/fixture/config/crd/bases"].map(|directory| files(&root.join(directory))).concat();
    assert!(own.len() > 10);
    own.iter().for_each(|file| stays(file));
    match std::env::var_os("CRD_CORPUS") {
        Some(corpus) => files(Path::new(&corpus)).iter().for_each(|file| stays(file)),
        None => eprintln!("SKIPPED: definitions from elsewhere; name a directory of them in CRD_CORPUS"),
    }
}
