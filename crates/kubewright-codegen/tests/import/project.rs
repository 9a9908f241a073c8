//! A project of imported types, compiled and generated again.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use kubewright_codegen::internal::{KubernetesTypes, import};
use serde_json::Value;

use crate::directories;

/// Imports definitions into one crate, compiles it and runs its `codegen`. Returns the generated definitions by name.
pub(crate) fn round_trip(
    name: &str,
    definitions: &[Value],
    kubernetes_types: KubernetesTypes,
) -> BTreeMap<String, Value> {
    let modules = import(definitions, kubernetes_types).unwrap();
    let package = directories::package();
    let repository = package.ancestors().nth(2).expect("the workspace is above");
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("import-{name}"));
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
    let main = format!("fn main() -> std::process::ExitCode {{ kubewright_codegen::cli(&[{}]) }}\n", groups.join(", "));
    fs::write(project.join("src/lib.rs"), library).unwrap();
    fs::write(project.join("src/main.rs"), "//! Generates the definitions.\n".to_owned() + &main).unwrap();
    // The package of the client, which is not compiled.
    fs::create_dir_all(project.join("client/src")).unwrap();
    fs::write(project.join("client/Cargo.toml"), "[package]\nname = \"client\"\nversion = \"0.0.0\"\n").unwrap();
    cargo(
        &project,
        &["run", "--quiet", "--", "codegen", "--root", ".", "--client-dir", "client/src", "--max-bytes", "0"],
    );
    if env::var_os("IMPORT_LINTS").is_some() {
        cargo(&project, &["clippy", "--quiet", "--lib", "--", "-D", "warnings", "-W", "clippy::pedantic"]);
        cargo(&project, &["test", "--quiet", "--doc"]);
        cargo(&project, &["rustdoc", "--quiet", "--lib", "--", "-D", "warnings"]);
    }
    let files = fs::read_dir(project.join("config/crd/bases")).unwrap();
    let read = |path: PathBuf| serde_saphyr::from_str::<Value>(&fs::read_to_string(path).unwrap()).unwrap();
    let generated = files.map(|entry| read(entry.unwrap().path()));
    generated
        .map(|definition| (definition["metadata"]["name"].as_str().unwrap_or_default().to_owned(), definition))
        .collect()
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
    let path = |name: &str| format!("{name} = {{ path = \"{}\" }}\n", repository.join("crates").join(name).display());
    format!(
        "[package]\nname = \"import-round-trip\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [profile.dev]\ndebug = false\n\n[dependencies]\n{}{}\
         k8s-openapi = {{ version = \"0.29\", features = [\"schemars\"] }}\nschemars = \"1\"\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n",
        path("kubewright-core"),
        path("kubewright-codegen")
    )
}
