//! The published packages: complete metadata, and an own-API project that compiles against the packed files alone.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The example that stands for a user's project, relative to the root of the workspace.
const PROJECT: &str = "examples/own-api";

/// The packages of the workspace that can be published, as `cargo metadata` describes them.
fn published() -> Vec<Value> {
    let output = tests::cargo(&["metadata", "--offline", "--no-deps", "--format-version", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().filter(|package| package["publish"].is_null()).cloned().collect()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

#[test]
fn the_libraries_are_published_and_nothing_else_is() {
    let names: Vec<_> = published().iter().map(|package| name(package).to_owned()).collect();
    let root = tests::workspace_root();
    let directories = [fs::read_dir(&root).unwrap(), fs::read_dir(root.join("crates")).unwrap()];
    let mut libraries: Vec<_> = directories
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|directory| directory.starts_with("logger-") || directory.starts_with("kubewright"))
        .collect();
    libraries.sort();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(sorted, libraries);
}

#[test]
fn published_packages_have_complete_metadata() {
    for package in published() {
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(package[key].is_string(), "{} has no {key}", name(&package));
        }
        for key in ["keywords", "categories"] {
            let count = package[key].as_array().map_or(0, Vec::len);
            assert!((1..=5).contains(&count), "{} has {count} {key}", name(&package));
        }
    }
}

#[test]
fn a_project_compiles_against_the_packed_crates() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    drop(fs::remove_dir_all(&directory));
    fs::create_dir_all(&directory).unwrap();
    let crates = pack(&directory);
    let project = directory.join("project");
    copy(&tests::workspace_root().join(PROJECT), &project);
    use_packed_crates(&project.join("Cargo.toml"), &crates);

    let mut check = tests::cargo(&["check", "--offline", "--quiet", "--workspace", "--all-targets", "--target-dir"]);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let output = check.arg(target).current_dir(&project).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Packs every published crate and unpacks it again below `directory`: names with their unpacked directories.
fn pack(directory: &Path) -> Vec<(String, PathBuf)> {
    let packages = published();
    let mut cargo = tests::cargo(&["package", "--offline", "--no-verify", "--allow-dirty", "--quiet", "--target-dir"]);
    cargo.arg(directory);
    for package in &packages {
        cargo.args(["--package", name(package)]);
    }
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    packages.iter().map(|package| (name(package).to_owned(), unpack(directory, package))).collect()
}

fn unpack(directory: &Path, package: &Value) -> PathBuf {
    let stem = format!("{}-{}", name(package), package["version"].as_str().unwrap());
    // Packed files have one fixed modification time. `-m` gives them the current time, so that cargo notices changes.
    let mut tar = Command::new("tar");
    tar.arg("-xzmf").arg(directory.join(format!("package/{stem}.crate"))).current_dir(directory);
    assert!(tar.status().unwrap().success(), "cannot unpack {stem}");
    let unpacked = directory.join(&stem);
    for file in ["README.md", "LICENSE", "src/lib.rs"] {
        assert!(unpacked.join(file).is_file(), "{stem} has no {file}");
    }
    unpacked
}

/// Copies the files of a project, without what cargo built in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_file() {
            fs::copy(&path, target).unwrap();
        } else if !path.ends_with("target") {
            copy(&path, &target);
        }
    }
}

/// Replaces the path dependencies of a workspace by versions, and has cargo find these versions in the unpacked crates.
fn use_packed_crates(manifest: &Path, crates: &[(String, PathBuf)]) {
    let mut text = fs::read_to_string(manifest).unwrap();
    for (name, _) in crates {
        text = text.replace(&format!("path = \"../../crates/{name}\""), "version = \"0.1.0\"");
    }
    assert!(!text.contains("../.."), "{text}");
    text.push_str("\n[patch.crates-io]\n");
    for (name, directory) in crates {
        text.push_str(&format!("{name} = {{ path = {directory:?} }}\n"));
    }
    fs::write(manifest, text).unwrap();
}
