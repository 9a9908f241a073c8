//! `crd diff` and `crd check`: their sources and exit codes.

use std::{
    fs,
    path::Path,
    process::{self, ExitCode},
};

use kubewright_codegen::{AllowedChange, Args, Check, Command, Crd, Diff, ProjectDirs, run};
use kubewright_core::meta::{ApiGroup, ApiKind, Conversion, Definition, Scope, TypeMeta};
use schemars::{Schema, SchemaGenerator, json_schema};
use tempfile::TempDir;

fn bounded(_: &mut SchemaGenerator) -> Schema {
    let spec = json_schema!({"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}});
    json_schema!({"type": "object", "properties": {"spec": spec}})
}

fn coloured(_: &mut SchemaGenerator) -> Schema {
    let spec = json_schema!({"type": "object", "properties": {"colour": {"type": "string"}}});
    json_schema!({"type": "object", "properties": {"spec": spec}})
}

const fn kind(schema: fn(&mut SchemaGenerator) -> Schema) -> ApiKind {
    ApiKind {
        kind: "Widget",
        rust_name: "Widget",
        plural: "widgets",
        singular: "widget",
        scope: Scope::Namespaced,
        schema: Some(schema),
        ..ApiKind::DEFAULT
    }
}

const fn group(types: &'static [TypeMeta]) -> ApiGroup {
    ApiGroup { group: "example.com", version: "v1", module: "my_types::v1", types, ..ApiGroup::DEFAULT }
}

const BOUNDED: &[ApiGroup] = &[group(&[TypeMeta::Kind(kind(bounded))])];
const COLOURED: &[ApiGroup] = &[group(&[TypeMeta::Kind(kind(coloured))])];

/// A kind that a webhook of the operator converts.
const fn converted(schema: fn(&mut SchemaGenerator) -> Schema, storage: bool) -> TypeMeta {
    let definition = Definition { storage, conversion: Some(Conversion::Webhook), ..Definition::DEFAULT };
    TypeMeta::Kind(ApiKind { definition, ..kind(schema) })
}

const CONVERTED: &[ApiGroup] = &[
    group(&[converted(bounded, false)]),
    ApiGroup { version: "v2", module: "my_types::v2", ..group(&[converted(coloured, true)]) },
];

/// Creates a project in a subdirectory of a repository, with the definition of `BOUNDED` committed.
fn project() -> (TempDir, std::path::PathBuf) {
    let repository = TempDir::new().unwrap();
    let root = repository.path().join("project");
    fs::create_dir_all(root.join("my-client")).unwrap();
    fs::write(root.join("my-client/Cargo.toml"), "[package]\n").unwrap();
    let args = Args { root: Some(root.clone()), ..Args::default() };
    assert_eq!(run(BOUNDED, &args), ExitCode::SUCCESS);
    for args in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "--message", "one"]] {
        git(&root, args);
    }
    (repository, root)
}

fn git(root: &Path, args: &[&str]) {
    let done = process::Command::new("git")
        .args(["-c", "user.name=Tester", "-c", "user.email=tester@example.com", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(root)
        .status();
    assert!(done.unwrap().success(), "git {args:?}");
}

fn diff(groups: &[ApiGroup], root: &Path, old: Option<&str>, new: Option<&str>, allow: &[AllowedChange]) -> ExitCode {
    let dirs = ProjectDirs { root: Some(root.to_owned()), ..ProjectDirs::default() };
    let (old, new) = (old.map(str::to_owned), new.map(str::to_owned));
    Command::Crd(Crd::Diff(Diff { old, new, allow: allow.to_vec(), dirs, ..Diff::default() })).run(groups)
}

#[test]
fn upgrades_by_olm_have_rules_of_their_own() {
    let (_repository, root) = project();
    let file = root.join("config/crd/bases/example.com_widgets.yaml");
    let text = fs::read_to_string(&file).unwrap();
    let olm = |new: &str| {
        let path = root.join("new.yaml");
        fs::write(&path, new).unwrap();
        let name = |path: &Path| Some(path.to_str().unwrap().to_owned());
        let dirs = ProjectDirs { root: Some(root.clone()), ..ProjectDirs::default() };
        let diff = Diff { old: name(&file), new: name(&path), olm: true, dirs, ..Diff::default() };
        Command::Crd(Crd::Diff(diff)).run(BOUNDED)
    };
    assert_eq!(olm(&text), ExitCode::SUCCESS);
    assert_eq!(olm(&text.replace("minimum: 1", "minimum: 0")), ExitCode::SUCCESS, "the bound is wider");
    assert_eq!(
        olm(&text.replace("minimum: 1", "default: 1\n                minimum: 1")),
        ExitCode::from(1),
        "a default"
    );
}

#[test]
fn revisions_are_compared_with_the_generated_definitions() {
    let (_repository, root) = project();
    assert_eq!(diff(BOUNDED, &root, None, None, &[]), ExitCode::SUCCESS);
    assert_eq!(diff(COLOURED, &root, None, None, &[]), ExitCode::from(1), "a field was removed");
    assert_eq!(diff(COLOURED, &root, None, None, &[AllowedChange::Tightening]), ExitCode::from(1));
    assert_eq!(diff(COLOURED, &root, Some("HEAD"), None, &[AllowedChange::Breaking]), ExitCode::SUCCESS);
    for nothing in ["HEAD~1", "nothing", "--help", ""] {
        assert_eq!(diff(BOUNDED, &root, Some(nothing), None, &[]), ExitCode::from(2), "{nothing}");
    }
}

#[test]
fn foreign_files_in_the_directory_are_not_removed_definitions() {
    let (_repository, root) = project();
    let bases = root.join("config/crd/bases");
    let ours = fs::read_to_string(bases.join("example.com_widgets.yaml")).unwrap();
    let theirs = ours.replace("widgets", "things").replace("`my_types`", "`their_types`");
    fs::write(bases.join("example.com_things.yaml"), theirs).unwrap();
    fs::write(bases.join("kustomization.yaml"), "resources: []\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "--message", "two"]);
    assert_eq!(diff(BOUNDED, &root, None, None, &[]), ExitCode::SUCCESS);

    let ours_too = ours.replace("widgets", "gadgets");
    fs::write(bases.join("example.com_gadgets.yaml"), ours_too).unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "--message", "three"]);
    assert_eq!(diff(BOUNDED, &root, None, None, &[]), ExitCode::from(1), "the definition is not generated any more");
}

#[test]
fn files_and_directories_are_compared() {
    let (_repository, root) = project();
    let file = root.join("config/crd/bases/example.com_widgets.yaml");
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let tight = root.join("tight.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&tight, text.replace("minimum: 1", "minimum: 2")).unwrap();
    assert_eq!(diff(BOUNDED, &root, Some(&path(&file)), Some(&path(&tight)), &[]), ExitCode::from(1));
    assert_eq!(
        diff(BOUNDED, &root, Some(&path(&file)), Some(&path(&tight)), &[AllowedChange::Tightening]),
        ExitCode::SUCCESS
    );
    assert_eq!(diff(BOUNDED, &root, Some(&path(&tight)), None, &[]), ExitCode::SUCCESS, "the bound is wider");
    assert_eq!(diff(BOUNDED, &root, Some(&path(&root.join("config/crd/bases"))), None, &[]), ExitCode::SUCCESS);

    let other = root.join("other.yaml");
    fs::write(&other, text.replace("widgets", "things")).unwrap();
    assert_eq!(diff(BOUNDED, &root, Some(&path(&other)), None, &[]), ExitCode::from(2), "nothing in common");
    fs::write(&other, "a: [b").unwrap();
    assert_eq!(diff(BOUNDED, &root, Some(&path(&other)), None, &[]), ExitCode::from(2), "not YAML");
    fs::write(&other, text.replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")).unwrap();
    assert_eq!(diff(BOUNDED, &root, Some(&path(&other)), None, &[]), ExitCode::from(2), "an old API version");
}

/// The manifests of the operator add the conversion, so that the generated definition has none.
#[test]
fn a_storage_version_that_a_webhook_converts_breaks_nothing() {
    let (_repository, root) = project();
    assert_eq!(diff(CONVERTED, &root, None, None, &[]), ExitCode::SUCCESS, "v2 lacks a field of v1");
    let args = Args { root: Some(root.clone()), ..Args::default() };
    assert_eq!(run(CONVERTED, &args), ExitCode::SUCCESS);
    git(&root, &["commit", "--quiet", "--all", "--message", "two"]);
    assert_eq!(diff(CONVERTED, &root, None, None, &[]), ExitCode::SUCCESS);
    assert_eq!(diff(CONVERTED, &root, Some("HEAD~1"), Some("HEAD"), &[]), ExitCode::SUCCESS);

    let generated = fs::read_to_string(root.join("config/crd/bases/example.com_widgets.yaml")).unwrap();
    let live = root.join("live.yaml");
    for (strategy, to_live) in [("None", ExitCode::from(1)), ("Webhook", ExitCode::SUCCESS)] {
        let conversion = format!("spec:\n  conversion:\n    strategy: {strategy}\n");
        fs::write(&live, generated.replacen("spec:\n", &conversion, 1)).unwrap();
        assert_eq!(diff(CONVERTED, &root, live.to_str(), None, &[]), ExitCode::SUCCESS, "{strategy}");
        assert_eq!(diff(CONVERTED, &root, Some("HEAD"), live.to_str(), &[]), to_live, "{strategy}");
    }
}

#[test]
fn definitions_of_any_origin_are_checked() {
    let (_repository, root) = project();
    let good = root.join("config/crd/bases/example.com_widgets.yaml");
    let text = fs::read_to_string(&good).unwrap();
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let check = |paths: &[&Path], strict: bool| {
        let files = paths.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
        Command::Crd(Crd::Check(Check { files, strict, json: false })).run(&[])
    };
    let warned = write("warned.yaml", &text.replace("minimum: 1", "minimum: 1\n                format: int8"));
    let column = "additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.sice}]";
    let linted = write("linted.yaml", &text.replace("    served: true", &format!("    {column}\n    served: true")));
    let rejected = write("rejected.yaml", &text.replace("type: integer", "type: int"));
    let others = write("others.yaml", "a: 1\n");
    assert_eq!(check(&[&good], true), ExitCode::SUCCESS);
    assert_eq!(check(&[&good, &warned], false), ExitCode::SUCCESS);
    assert_eq!(check(&[&good, &warned], true), ExitCode::from(1));
    assert_eq!(check(&[&good, &linted], false), ExitCode::SUCCESS);
    assert_eq!(check(&[&good, &linted], true), ExitCode::from(1));
    assert_eq!(check(&[&rejected, &good], false), ExitCode::from(1));
    assert_eq!(check(&[&good, &others], false), ExitCode::from(2), "nothing to check");
    assert_eq!(check(&[&root.join("nowhere.yaml")], false), ExitCode::from(2));
}
