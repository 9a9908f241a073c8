//! Round trip of real definitions: imported, compiled and generated again, they are equal.
//!
//! `CRD_CORPUS` is their directory, which is searched recursively. The test takes minutes, so it is ignored by default:
//! `CRD_CORPUS=.. cargo test -p kubewright-codegen --test import round_trip -- --ignored --nocapture`. With
//! `IMPORT_LINTS` set, the crate must pass clippy and rustdoc as well.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use kubewright_codegen::internal::{KubernetesTypes, differences, import, normalize};
use serde_json::Value;

use crate::project::round_trip;

/// Returns the definitions of the corpus, by file name.
fn corpus(directory: &Path) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("the corpus can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(corpus(&path));
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            let text = fs::read_to_string(&path).expect("a file of the corpus can be read");
            let definition: Value = serde_saphyr::from_str(&text).expect("a file of the corpus is YAML");
            if definition["kind"] == "CustomResourceDefinition" {
                found.insert(path.file_name().unwrap().to_string_lossy().into_owned(), definition);
            }
        }
    }
    found
}

#[test]
#[ignore = "compiles a crate of imported types; needs CRD_CORPUS"]
fn imported_definitions_are_generated_again() {
    let Some(directory) = env::var_os("CRD_CORPUS").map(PathBuf::from).filter(|path| path.is_dir()) else {
        eprintln!("SKIPPED: CRD_CORPUS is not a directory of definitions");
        return;
    };
    let corpus = corpus(&directory);
    for kubernetes_types in [KubernetesTypes::Generate, KubernetesTypes::Reuse] {
        let (importable, rejected): (BTreeMap<_, _>, BTreeMap<_, _>) = corpus
            .iter()
            .partition(|(_, definition)| import(std::slice::from_ref(definition), kubernetes_types).is_ok());
        for (name, definition) in &rejected {
            eprintln!(
                "{name} is rejected:\n{}\n",
                import(std::slice::from_ref(*definition), kubernetes_types).unwrap_err()
            );
        }
        let generated = round_trip(
            "corpus",
            &importable.values().map(|definition| (*definition).clone()).collect::<Vec<_>>(),
            kubernetes_types,
        );
        let mut lossy = 0;
        for (name, original) in &importable {
            let key = original["metadata"]["name"].as_str().unwrap_or_default();
            let Some(generated) = generated.get(key) else { panic!("{key} was not generated") };
            let mut differences = differences(&normalize(original), &normalize(generated));
            if kubernetes_types == KubernetesTypes::Reuse {
                differences
                    .retain(|difference| !difference.split(": ").next().unwrap_or_default().ends_with(".description"));
            }
            lossy += usize::from(!differences.is_empty());
            for difference in differences.iter().take(20) {
                eprintln!("{name}: {difference}");
            }
        }
        let equal = importable.len() - lossy;
        eprintln!(
            "{kubernetes_types:?}: {equal} of {} are generated again, {} are rejected",
            corpus.len(),
            rejected.len()
        );
        assert_eq!(lossy, 0, "the imported types generate other definitions");
    }
}
