//! One API in two languages: our definitions of the Rust types, and controller-gen's definitions of the Go types.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use kubewright_codegen::{CrdOptions, Layout, generate};
use serde_json::Value;

/// The directory of the Go module, in which the tool is built.
const MODULE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/controller-gen");
const TOOL: &str = "sigs.k8s.io/controller-tools/cmd/controller-gen";

/// Both sets of definitions by the plural of the kind.
pub struct Twins {
    pub ours: BTreeMap<String, Value>,
    pub theirs: BTreeMap<String, Value>,
}

/// Generates both, or prints one line and skips if Go, which builds controller-gen, is missing.
///
/// # Panics
/// Go is missing and `KUBEWRIGHT_REQUIRE_CONTROL_PLANE` is 1, or a tool failed.
pub fn find_or_skip() -> Option<Twins> {
    let tool = build_or_skip(Path::new(MODULE))?;
    Some(Twins { ours: ours(), theirs: theirs(&tool) })
}

/// Builds controller-gen in the directory of a Go module, which pins its version, and returns its path. Skips like
/// [`find_or_skip`].
///
/// # Panics
/// As [`find_or_skip`].
pub fn build_or_skip(module: &Path) -> Option<PathBuf> {
    if Command::new("go").arg("version").output().is_err() {
        let required = std::env::var_os("KUBEWRIGHT_REQUIRE_CONTROL_PLANE").is_some_and(|value| value == "1");
        assert!(!required, "controller-gen cannot be built; install Go");
        std::io::stderr().write_all(b"SKIPPED controller-gen: no Go to build it with; install Go\n").unwrap();
        return None;
    }
    copy(&path("tools/bench"), &["go.mod", "go.sum"], module);
    run(Command::new("go").args(["build", "-trimpath", "-o", "controller-gen", TOOL]).current_dir(module));
    Some(module.join("controller-gen"))
}

fn ours() -> BTreeMap<String, Value> {
    let layout =
        Layout { crd: CrdOptions { max_bytes: 0, ..CrdOptions::default() }, ..Layout::for_types_crate("twin_types") };
    let files = generate(&fixture_types::twins(), &layout).unwrap_or_else(|found| panic!("{found}"));
    let yaml = files.into_iter().filter(|file| file.path.ends_with(".yaml"));
    by_plural(yaml.map(|file| file.contents))
}

/// The Go types are copied into the module of the tool.
fn theirs(tool: &Path) -> BTreeMap<String, Value> {
    let module = Path::new(MODULE);
    let _ = fs::remove_dir_all(module.join("crds"));
    copy(&path("tests/corpus/controller-gen"), &["v1/doc.go", "v1/types.go", "v1beta1/types.go"], module);
    run(Command::new(tool)
        .args(["crd:allowDangerousTypes=true,generateEmbeddedObjectMeta=true", "paths=./...", "output:crd:dir=crds"])
        .current_dir(module));
    let files = fs::read_dir(module.join("crds")).unwrap();
    by_plural(files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()))
}

fn copy(from: &Path, files: &[&str], module: &Path) {
    for file in files {
        fs::create_dir_all(module.join(file).parent().unwrap()).unwrap();
        fs::copy(from.join(file), module.join(file)).unwrap();
    }
}

fn path(below: &str) -> PathBuf {
    tests::workspace_root().join(below)
}

fn by_plural(texts: impl Iterator<Item = String>) -> BTreeMap<String, Value> {
    let parsed = texts.map(|text| serde_saphyr::from_str::<Value>(&text).unwrap());
    parsed.map(|crd| (crd["spec"]["names"]["plural"].as_str().unwrap().to_owned(), crd)).collect()
}

pub fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
