//! The checker returns the recorded answer of the real server for every definition of the corpus, and accepts
//! definitions from real projects.

use std::path::{Path, PathBuf};

use kubewright_crd::{definition as crd, field::FieldError};
use serde_json::Value;
use tests::definitions::{cases, difference, recorded};

#[test]
fn the_checker_agrees_with_the_recorded_answers() {
    let (cases, mut recorded) = (cases(), recorded());
    let mut wrong = Vec::new();
    for case in &cases {
        match recorded.remove(&case.name) {
            Some(answer) => wrong.extend(difference(case, &answer)),
            None => wrong.push(format!("{}\n  no answer is recorded, or two cases have this name", case.name)),
        }
    }
    wrong.extend(recorded.keys().map(|name| format!("{name}\n  an answer is recorded, but there is no case")));
    let how = "RECORD_DEFINITIONS=1 cargo test -p tests --test e2e definitions";
    assert!(
        wrong.is_empty(),
        "{} of {} cases (record again with {how}):\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_corpus_is_large_and_has_few_differences() {
    let cases = cases();
    let count = |broken| cases.iter().filter(|case| case.is_broken() == Some(broken)).count();
    assert!(count(true) >= 150, "{} broken definitions", count(true));
    assert!(count(false) >= 40, "{} valid definitions", count(false));
    let different = cases.iter().filter(|case| case.differs.is_some()).count();
    assert!(different <= 5, "{different} differences");
}

#[test]
fn definitions_of_real_projects_are_accepted() {
    let Some(directory) = std::env::var_os("CRD_CORPUS") else {
        eprintln!("SKIPPED: no definitions of real projects; CRD_CORPUS names no directory of their YAML files");
        return;
    };
    let files = yaml_files(Path::new(&directory));
    let mut wrong = Vec::new();
    let mut accepted = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        for crd in documents.iter().filter(|document| document["kind"] == "CustomResourceDefinition") {
            accepted += 1;
            let errors = crd::validate(crd).into_iter().filter(FieldError::is_error);
            wrong.extend(errors.map(|finding| format!("{}: {finding}", crd["metadata"]["name"])));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 0, "no definitions in {directory:?}");
    println!("{accepted} definitions accepted");
}

fn yaml_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let (directories, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    files.into_iter().filter(is_yaml).chain(directories.iter().flat_map(|directory| yaml_files(directory))).collect()
}
