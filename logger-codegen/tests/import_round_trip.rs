//! Definitions from elsewhere, imported, compiled and generated again: what comes out is what went in.
//!
//! `CRD_CORPUS` names the directory they are in, at any depth. It takes minutes, so it runs only when asked for:
//! `CRD_CORPUS=.. cargo test -p logger-codegen --test import_round_trip -- --ignored --nocapture`. With `IMPORT_LINTS`
//! set, the crate must pass clippy and rustdoc too.

#![expect(clippy::unwrap_used, reason = "allowed in tests, and the helpers of tests are part of them")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use logger_codegen::import::{Structs, differences, import, normal_form};
use serde_json::Value;

/// The definitions of the corpus, by file name.
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
fn what_is_imported_generates_what_it_came_from() {
    let Some(directory) = env::var_os("CRD_CORPUS").map(PathBuf::from).filter(|path| path.is_dir()) else {
        eprintln!("SKIPPED: CRD_CORPUS names no directory of definitions, so no import of real ones was tried");
        return;
    };
    let corpus = corpus(&directory);
    for structs in [Structs::Own, Structs::OfKubernetes] {
        let (importable, refused): (BTreeMap<_, _>, BTreeMap<_, _>) =
            corpus.iter().partition(|(_, definition)| import(std::slice::from_ref(definition), structs).is_ok());
        for (name, definition) in &refused {
            eprintln!("{name} is refused:\n{}\n", import(std::slice::from_ref(*definition), structs).unwrap_err());
        }
        let generated = round_trip(&importable.values().map(|of| (*of).clone()).collect::<Vec<_>>(), structs);
        let mut lossy = 0;
        for (name, original) in &importable {
            let key = original["metadata"]["name"].as_str().unwrap_or_default();
            let Some(generated) = generated.get(key) else { panic!("{key} was not generated") };
            let mut differences = differences(&normal_form(original), &normal_form(generated));
            if structs == Structs::OfKubernetes {
                differences
                    .retain(|difference| !difference.split(": ").next().unwrap_or_default().ends_with(".description"));
            }
            lossy += usize::from(!differences.is_empty());
            for difference in differences.iter().take(20) {
                eprintln!("{name}: {difference}");
            }
        }
        let kept = importable.len() - lossy;
        eprintln!("{structs:?}: {kept} of {} come back as they were, {} are refused", corpus.len(), refused.len());
        assert_eq!(lossy, 0, "what is imported without an error must come back as it was");
    }
}

/// Imports them into one crate, compiles it and runs its `codegen`. Answers what was generated, by name.
fn round_trip(definitions: &[Value], structs: Structs) -> BTreeMap<String, Value> {
    let modules = import(definitions, structs).unwrap();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above");
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("import-round-trip");
    drop(fs::remove_dir_all(&project));
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("Cargo.toml"), manifest(repository)).unwrap();
    fs::copy(repository.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let mut library = "//! Imported types.\n".to_owned();
    for module in &modules {
        fs::write(project.join(format!("src/{}.rs", module.module)), &module.source).unwrap();
        library += &format!("pub mod {};\n", module.module);
    }
    let groups: Vec<String> =
        modules.iter().map(|module| format!("import_round_trip::{}::API_GROUP", module.module)).collect();
    let main = format!("fn main() -> std::process::ExitCode {{ logger_codegen::cli(&[{}]) }}\n", groups.join(", "));
    fs::write(project.join("src/lib.rs"), library).unwrap();
    fs::write(project.join("src/main.rs"), "//! Generates the definitions.\n".to_owned() + &main).unwrap();
    // A place for the client, which nobody compiles here.
    fs::create_dir_all(project.join("client/src")).unwrap();
    fs::write(project.join("client/Cargo.toml"), "[package]\nname = \"client\"\nversion = \"0.0.0\"\n").unwrap();
    cargo(&project, &["run", "--quiet", "--", "codegen", "--root", ".", "--client-dir", "client/src"]);
    if env::var_os("IMPORT_LINTS").is_some() {
        cargo(&project, &["clippy", "--quiet", "--lib", "--", "-D", "warnings", "-W", "clippy::pedantic"]);
        cargo(&project, &["test", "--quiet", "--doc"]);
        cargo(&project, &["rustdoc", "--quiet", "--lib", "--", "-D", "warnings"]);
    }
    let files = fs::read_dir(project.join("config/crd/bases")).unwrap();
    let read = |path: PathBuf| serde_saphyr::from_str::<Value>(&fs::read_to_string(path).unwrap()).unwrap();
    let generated = files.map(|entry| read(entry.unwrap().path()));
    generated.map(|of| (of["metadata"]["name"].as_str().unwrap_or_default().to_owned(), of)).collect()
}

fn cargo(project: &Path, args: &[&str]) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target directory");
    let status = Command::new(env!("CARGO"))
        .args(args)
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("CRD_CORPUS")
        .status()
        .expect("cargo can be started");
    assert!(status.success(), "cargo {}", args.join(" "));
}

fn manifest(repository: &Path) -> String {
    let path = |name: &str| format!("{name} = {{ path = \"{}\" }}\n", repository.join(name).display());
    format!(
        "[package]\nname = \"import-round-trip\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [profile.dev]\ndebug = false\n\n[dependencies]\n{}{}\
         k8s-openapi = {{ version = \"0.29\", features = [\"schemars\"] }}\nschemars = \"1\"\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n",
        path("logger-core"),
        path("logger-codegen")
    )
}
