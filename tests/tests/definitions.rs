//! The checker says to every definition of the corpus what the real server answered when it was asked last, and takes
//! definitions that are in use.

use std::path::{Path, PathBuf};

use logger_crd::check;
use serde_json::Value;
use tests::definitions::{cases, disagreement, recorded};

#[test]
fn the_checker_agrees_with_the_recorded_answers() {
    let (cases, mut recorded) = (cases(), recorded());
    let mut wrong = Vec::new();
    for case in &cases {
        match recorded.remove(&case.name) {
            Some(answer) => wrong.extend(disagreement(case, &answer)),
            None => wrong.push(format!("{}\n  no answer is recorded, or there are two cases of this name", case.name)),
        }
    }
    wrong.extend(recorded.keys().map(|name| format!("{name}\n  there is an answer, but no case")));
    let how = "RECORD_DEFINITIONS=1 cargo test -p tests --test e2e definitions";
    assert!(
        wrong.is_empty(),
        "{} of {} cases (recorded anew by {how}):\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_corpus_is_large_and_the_disagreements_are_few() {
    let cases = cases();
    let count = |broken| cases.iter().filter(|case| case.is_broken() == Some(broken)).count();
    assert!(count(true) >= 150, "{} broken definitions", count(true));
    assert!(count(false) >= 40, "{} valid definitions", count(false));
    let different = cases.iter().filter(|case| case.differs.is_some()).count();
    assert!(different <= 5, "{different} disagreements");
}

#[test]
fn definitions_in_use_are_taken() {
    let Some(directory) = std::env::var_os("CRD_CORPUS") else {
        eprintln!("SKIPPED: no definitions in use; CRD_CORPUS names no directory with their YAML files");
        return;
    };
    let files = yaml_files(Path::new(&directory));
    let mut wrong = Vec::new();
    let mut taken = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        for crd in documents.iter().filter(|document| document["kind"] == "CustomResourceDefinition") {
            taken += 1;
            let refusals = check::definition(crd).into_iter().filter(check::Finding::is_refusal);
            wrong.extend(refusals.map(|finding| format!("{}: {finding}", crd["metadata"]["name"])));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(taken > 0, "there are definitions in {directory:?}");
    println!("{taken} definitions are taken");
}

fn yaml_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let (directories, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    files.into_iter().filter(is_yaml).chain(directories.iter().flat_map(|directory| yaml_files(directory))).collect()
}
