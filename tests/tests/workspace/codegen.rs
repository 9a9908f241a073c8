//! The generator: drift of the checked-in files, changes to a tree, and rejected declarations.

use std::{fs, path::Path, process::ExitCode};

use kubewright_codegen::{
    Action, Args, Command, Docs, Drift, File, Layout, Plan, ProjectDirs, WriteResult, generate,
    internal::run_attributes, run,
};
use kubewright_core::{
    Kind,
    meta::{ApiGroup, ApiKind, ApiList, TypeMeta},
};
use logger_types::v2::Logger;
use tempfile::TempDir;

fn workspace(below: &str) -> std::path::PathBuf {
    tests::workspace_root().join(below)
}

fn args(root: &Path, check: bool) -> Args {
    Args { check, root: Some(root.to_owned()), ..Args::default() }
}

fn files() -> Vec<File> {
    generate(logger_types::groups(), &layout()).unwrap()
}

fn layout() -> Layout {
    Layout::for_types_crate("logger_types")
}

fn drift(root: &Path) -> Vec<Drift> {
    Plan::new(root, &files(), &layout()).unwrap().drift().unwrap()
}

/// Creates a workspace with an empty client package.
fn empty_workspace() -> TempDir {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("logger-client")).unwrap();
    fs::write(root.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    fs::write(root.path().join("logger-client/Cargo.toml"), "[package]\n").unwrap();
    root
}

/// Counts the files and directories of a workspace.
fn entry_count(root: &TempDir) -> usize {
    fs::read_dir(root.path()).unwrap().count() + fs::read_dir(root.path().join("logger-client")).unwrap().count()
}

/// Creates a workspace with generated files.
fn generated_workspace() -> TempDir {
    let root = empty_workspace();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    root
}

#[test]
fn the_checked_in_files_are_up_to_date() {
    for (root, groups) in [(".", logger_types::groups().to_vec()), ("tests/fixture", fixture_types::groups())] {
        let check = run(&groups, &args(&workspace(root), true));
        assert_eq!(check, ExitCode::SUCCESS, "generated files are stale; run `cargo xtask codegen`");
    }
}

#[test]
fn the_attribute_reference_is_up_to_date() {
    let check = run_attributes(&workspace("."), true);
    assert_eq!(check, ExitCode::SUCCESS, "docs/attributes.md is stale; run `cargo xtask codegen`");
}

#[test]
fn the_api_reference_is_up_to_date() {
    let dirs = ProjectDirs { root: Some(workspace(".")), ..ProjectDirs::default() };
    let check = Command::Docs(Docs { check: true, dirs }).run(logger_types::groups());
    assert_eq!(check, ExitCode::SUCCESS, "docs/api is stale; run `cargo xtask codegen`");
}

#[test]
fn api_pages_are_written_checked_and_removed_when_stray() {
    let root = empty_workspace();
    let docs = |check| {
        let dirs = ProjectDirs { root: Some(root.path().to_owned()), ..ProjectDirs::default() };
        Command::Docs(Docs { check, dirs }).run(logger_types::groups())
    };
    assert_eq!(docs(true), ExitCode::from(1));
    assert_eq!(docs(false), ExitCode::SUCCESS);
    let pages = root.path().join("docs/api");
    fs::copy(pages.join("example.com_v1.md"), pages.join("example.com_v0.md")).unwrap();
    fs::write(pages.join("by_hand.md"), "# Ours\n").unwrap();
    assert_eq!(docs(true), ExitCode::from(1), "a stray page");
    assert_eq!(docs(false), ExitCode::SUCCESS);
    assert_eq!(docs(true), ExitCode::SUCCESS);
    assert!(pages.join("by_hand.md").exists() && !pages.join("example.com_v0.md").exists());
}

#[test]
fn explain_needs_no_tree_and_an_unknown_word_is_an_error() {
    let explain = |word: Option<&str>| {
        let action = Some(Action::Explain { word: word.map(str::to_owned) });
        run(&[], &Args { action, ..args(Path::new("/nowhere"), false) })
    };
    for word in [None, Some("nonNamespaced"), Some("+genclient:onlyVerbs"), Some("--single-directory")] {
        assert_eq!(explain(word), ExitCode::SUCCESS, "{word:?}");
    }
    assert_eq!(explain(Some("nonNamspaced")), ExitCode::from(2));
}

#[test]
fn generating_again_modifies_no_file() {
    let root = generated_workspace();
    let modified = |file: &File| fs::metadata(root.path().join(&file.path)).unwrap().modified().unwrap();
    let before: Vec<_> = files().iter().map(modified).collect();
    let done = Plan::new(root.path(), &files(), &layout()).unwrap().write().unwrap();
    assert!(done.iter().all(|(_, written)| *written == WriteResult::Unchanged), "{done:?}");
    assert_eq!(files().iter().map(modified).collect::<Vec<_>>(), before);
}

#[test]
fn check_reports_changed_missing_and_stray_files_and_modifies_nothing() {
    let root = generated_workspace();
    let path = |below: &str| root.path().join(below);
    let scheme = fs::read_to_string(path("logger-client/src/scheme.rs")).unwrap();
    fs::write(path("logger-client/src/scheme.rs"), scheme.replace("Registers", "Register")).unwrap();
    fs::remove_file(path("logger-client/src/typed/example_v1.rs")).unwrap();
    fs::write(path("logger-client/src/typed/old_v1.rs"), &scheme).unwrap();
    fs::write(path("logger-client/src/by_hand.rs"), "//! Written by hand.\n").unwrap();

    let drift = drift(root.path());
    assert!(matches!(&drift[0], Drift::Changed { path, .. } if path == "logger-client/src/scheme.rs"), "{drift:?}");
    assert_eq!(drift[1], Drift::Missing("logger-client/src/typed/example_v1.rs".to_owned()));
    assert_eq!(drift[2], Drift::Stray("logger-client/src/typed/old_v1.rs".to_owned()));
    assert_eq!(drift.len(), 3);
    assert_eq!(run(logger_types::groups(), &args(root.path(), true)), ExitCode::from(1));
    assert!(
        !path("logger-client/src/typed/example_v1.rs").exists() && path("logger-client/src/typed/old_v1.rs").exists()
    );
}

#[test]
fn writing_repairs_the_tree_and_preserves_hand_written_files() {
    let root = generated_workspace();
    let path = |below: &str| root.path().join(below);
    fs::copy(path("logger-client/src/scheme.rs"), path("logger-client/src/typed/old_v1.rs")).unwrap();
    fs::write(path("logger-client/src/by_hand.rs"), "//! Written by hand.\n").unwrap();
    fs::write(path("config/crd/bases/kustomization.yaml"), "resources: []\n").unwrap();
    fs::write(path("logger-client/src/lib.rs"), "").unwrap();

    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    assert_eq!(drift(root.path()), []);
    assert!(!path("logger-client/src/typed/old_v1.rs").exists());
    assert!(path("logger-client/src/by_hand.rs").exists() && path("config/crd/bases/kustomization.yaml").exists());
}

#[test]
fn a_failed_write_leaves_every_file_unchanged() {
    let root = generated_workspace();
    let lib = root.path().join("logger-client/src/lib.rs");
    fs::write(&lib, "// edited\n").unwrap();
    let stray = root.path().join("logger-client/src/typed/old_v1.rs");
    fs::copy(root.path().join("logger-client/src/scheme.rs"), &stray).unwrap();
    // A directory in place of the file: permissions do not stop every user that a test may run as.
    let crd = root.path().join("config/crd/bases/example.com_loggers.yaml");
    fs::remove_file(&crd).unwrap();
    fs::create_dir(&crd).unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::from(2));
    assert_eq!(fs::read_to_string(&lib).unwrap(), "// edited\n");

    fs::remove_dir(&crd).unwrap();
    fs::remove_dir(root.path().join("config/crd/bases")).unwrap();
    fs::write(root.path().join("config/crd/bases"), "a file in place of the directory").unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::from(2));
    assert_eq!(fs::read_to_string(&lib).unwrap(), "// edited\n");
    assert!(stray.exists());
    let left: Vec<_> =
        fs::read_dir(root.path().join("logger-client/src")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{left:?}");
}

#[test]
fn a_crate_without_kinds_is_an_error() {
    let root = empty_workspace();
    let before = entry_count(&root);
    assert_eq!(run(&[], &args(root.path(), false)), ExitCode::from(2));
    assert_eq!(entry_count(&root), before);
}

#[test]
fn every_error_names_its_rust_item_and_nothing_is_written() {
    let groups = [rejected::v1::API_GROUP];
    let error = generate(&groups, &Layout::for_types_crate("rejected")).unwrap_err();
    let items: Vec<_> = error.0.iter().map(|diagnostic| diagnostic.item.as_str()).collect();
    assert_eq!(items, ["workspace::codegen::rejected::v1::Unlisted"], "{error}");

    let groups = [rejected::v2::API_GROUP];
    let error = generate(&groups, &Layout::for_types_crate("rejected")).unwrap_err();
    let found: Vec<_> = error.0.iter().map(|d| (d.item.rsplit("::").next().unwrap(), d.message.as_str())).collect();
    let expected = [
        (
            "Broken.spec.bytes",
            "a `Vec<u8>` is a list of numbers in JSON, but base64 in Kubernetes APIs; use `k8s_openapi::ByteString` with `#[schemars(with = \"String\", extend(\"format\" = \"byte\"))]`, or `Vec<u16>` for a list of numbers",
        ),
        ("Broken.spec.huge", "the API server has no 128-bit integers; use `i64`, or `String` for larger numbers"),
        ("Broken.spec.nested{}.pair", "a tuple has no structural schema; use a struct with named fields"),
        (
            "Broken.spec.shape",
            "variant `Dot` is a string in JSON and others are objects, and a field must have a single type; use `Dot {}`, which is an object",
        ),
        (
            "Broken.spec.tree.children[]",
            "`Tree` → `Tree` is recursive, and a structural schema has no references; set the number of expanded levels with `#[schema(depth = N)]`, or break the cycle with `serde_json::Value`",
        ),
        ("Broken.status", "a new object has no status; make it an `Option`, or add `#[serde(default)]`"),
    ];
    assert_eq!(found, expected, "{error}");

    let root = empty_workspace();
    let before = entry_count(&root);
    let args = Args { client_dir: Some("logger-client/src".to_owned()), ..args(root.path(), false) };
    assert_eq!(run(&groups, &args), ExitCode::from(2));
    assert_eq!(entry_count(&root), before);
}

#[test]
fn every_error_has_the_source_location_of_its_field_or_kind() {
    let error = generate(&[rejected::v2::API_GROUP], &Layout::for_types_crate("rejected")).unwrap_err();
    let kind = rejected::v2::Broken::API_KIND.location;
    assert_eq!(kind.file, file!());
    assert!(error.0.iter().all(|diagnostic| diagnostic.location == Some(kind.to_string())), "{error}");

    let error = generate(&[rejected::v5::API_GROUP], &Layout::for_types_crate("rejected")).unwrap_err();
    let line = rejected::v5::Located::API_KIND.location.line + 7;
    let expected = format!("{}:{line}: `workspace::codegen::rejected::v5::LocatedSpec::pair`: a tuple ", file!());
    assert!(error.to_string().starts_with(&expected), "{expected}\n{error}");
}

#[test]
fn a_directory_without_a_package_is_rejected() {
    let root = empty_workspace();
    fs::remove_file(root.path().join("logger-client/Cargo.toml")).unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::from(2));
    assert_eq!(fs::read_dir(root.path().join("logger-client")).unwrap().count(), 0);
    assert_eq!(run(logger_types::groups(), &args(Path::new("/nowhere"), false)), ExitCode::from(2));
}

#[test]
fn groups_with_the_same_first_segment_get_their_full_names() {
    let files = generate(&fixture_types::groups(), &Layout::for_types_crate("fixture_types")).unwrap();
    let typed = files.iter().filter_map(|file| file.path.strip_prefix("fixture-client/src/typed/library"));
    assert_eq!(typed.collect::<Vec<_>>(), ["_example_net_v1.rs", "_example_org_v1beta1.rs"]);
}

#[test]
fn the_kinds_of_several_crates_have_one_client() {
    let (groups, root) = ([logger_types::groups(), &fixture_types::groups()].concat(), empty_workspace());
    assert_eq!(run(&groups, &args(root.path(), false)), ExitCode::SUCCESS);
    assert_eq!(run(&groups, &args(root.path(), true)), ExitCode::SUCCESS);
    let typed = root.path().join("logger-client/src/typed");
    for (file, import) in
        [("example_v2.rs", "use logger_types::v2 as types;"), ("library_example_net_v1.rs", "use fixture_types::")]
    {
        let source = fs::read_to_string(typed.join(file)).unwrap();
        assert!(source.contains(import), "{source}");
    }
    assert!(root.path().join("config/crd/bases/example.com_loggers.yaml").exists());
}

/// The code of a kind is compiled by the programs that use it, and not by the client crate.
#[test]
fn functions_that_instantiate_generic_code_are_inline() {
    let files = generate(&fixture_types::groups(), &Layout::for_types_crate("fixture_types")).unwrap();
    let mut found = Vec::new();
    for file in &files {
        let of_kinds = ["/typed/", "/informers/"].iter().any(|directory| file.path.contains(directory));
        for (before, line) in file.contents.lines().zip(file.contents.lines().skip(1)) {
            let Some((name, _)) = line.trim().strip_prefix("pub fn ").and_then(|line| line.split_once(['(', '<']))
            else {
                continue;
            };
            let instantiates =
                name.starts_with("extract") || ["add_to_scheme", "for_resource", "scheme"].contains(&name);
            if instantiates || (of_kinds && name != "new") {
                assert_eq!(before.trim(), "#[inline]", "{}: {name}", file.path);
                found.push(name);
            }
        }
    }
    for name in ["add_to_scheme", "all_tables", "extract", "extract_status", "for_resource", "get_extended"] {
        assert!(found.contains(&name), "{name} is not in {found:?}");
    }
}

#[test]
fn modules_are_behind_the_features_that_the_package_declares() {
    let lib = |features: &[&str]| {
        let features = features.iter().map(|feature| (*feature).to_owned()).collect();
        let files = generate(logger_types::groups(), &Layout { features, ..layout() }).unwrap();
        files.into_iter().find(|file| file.path == "logger-client/src/lib.rs").unwrap().contents
    };
    assert!(!lib(&["default", "tls"]).contains("cfg"));
    let gated = lib(&["clientset", "informers"]);
    let gates = gated.lines().filter(|line| line.starts_with("#[cfg")).collect::<Vec<_>>();
    assert_eq!(gates.len(), 6, "clientset, informers, listers, typed, and their re-exports in lib.rs: {gates:?}");

    let root = empty_workspace();
    fs::write(root.path().join("logger-client/Cargo.toml"), "[features]\nscheme = []\n").unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    let written = fs::read_to_string(root.path().join("logger-client/src/lib.rs")).unwrap();
    assert!(written.contains("#[cfg(feature = \"scheme\")]") && !written.contains("#[cfg(feature = \"clientset\")]"));
    fs::write(root.path().join("logger-client/Cargo.toml"), "[features\n").unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), true)), ExitCode::from(2));
}

#[test]
fn fields_that_cannot_be_applied_are_rejected_by_name() {
    let error = generate(&[rejected::v3::API_GROUP], &layout()).unwrap_err().to_string();
    let expected = "::v3::Worn.volume`: `io.k8s.api.storage.v1.VolumeAttachmentSpec` has no apply configuration in \
                    kubewright-apply; set `#[apply(atomic)]`";
    assert!(error.contains(expected), "{expected}\n{error}");
    // Two types of one name are distinguished by their modules.
    assert!(!error.contains("Twin"), "{error}");
    let error = generate(&[rejected::v4::API_GROUP], &layout()).unwrap_err().to_string();
    assert!(
        error.contains("::v4::Torn`: its method `mend` takes its apply configuration: derive `ApplyConfiguration`"),
        "{error}"
    );
}

#[test]
fn group_ident_resolves_a_name_clash_and_the_error_proposes_one() {
    let group = logger_types::v2::API_GROUP;
    let other = ApiGroup { group: "other.org", group_ident: Some("example"), ..group };
    let error = generate(&[group, other], &layout()).unwrap_err().to_string();
    assert!(
        error.contains("`example_v2` has the name of that of `example.com`; set `group_ident = \"other_org\"`"),
        "{error}"
    );
    let resolved = ApiGroup { group_ident: Some("other"), ..other };
    let files = generate(&[group, resolved], &layout()).unwrap();
    assert!(files.iter().any(|file| file.path.ends_with("typed/other_v2.rs")));
}

#[test]
fn a_stray_that_cannot_be_removed_leaves_every_file_unchanged() {
    let root = generated_workspace();
    let lib = root.path().join("logger-client/src/lib.rs");
    fs::write(&lib, "// edited\n").unwrap();
    let strays = ["a_v1.rs", "b_v1.rs"].map(|name| root.path().join("logger-client/src/typed").join(name));
    for stray in &strays {
        fs::copy(root.path().join("logger-client/src/scheme.rs"), stray).unwrap();
    }
    // A directory occupies the path that the second stray would be moved to.
    fs::create_dir(root.path().join("logger-client/src/typed/.b_v1.rs.old")).unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::from(2));
    assert_eq!(fs::read_to_string(&lib).unwrap(), "// edited\n");
    assert!(strays.iter().all(|stray| stray.exists()));
}

#[test]
fn types_crates_in_one_directory_preserve_each_others_files() {
    let root = generated_workspace();
    fs::create_dir(root.path().join("fixture-client")).unwrap();
    fs::write(root.path().join("fixture-client/Cargo.toml"), "[package]\n").unwrap();
    assert_eq!(run(&fixture_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    for groups in [logger_types::groups().to_vec(), fixture_types::groups()] {
        assert_eq!(run(&groups, &args(root.path(), true)), ExitCode::SUCCESS);
    }
}

#[cfg(unix)]
#[test]
fn files_behind_a_symbolic_link_are_not_removed() {
    let (root, other) = (generated_workspace(), generated_workspace());
    let link = root.path().join("logger-client/src/vendored");
    std::os::unix::fs::symlink(other.path().join("logger-client/src"), link).unwrap();
    assert_eq!(drift(root.path()), []);
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    assert_eq!(drift(other.path()), []);
}

#[test]
fn kinds_that_share_a_name_are_rejected() {
    const AUDIT: ApiKind = ApiKind {
        kind: "Audit",
        rust_name: "Audit",
        plural: "audits",
        singular: "audit",
        short_names: &[],
        ..Logger::API_KIND
    };
    const LIST: ApiList = ApiList { kind: "AuditList", item: "Audit", items: "items", docs: "" };
    const ALL: ApiKind =
        ApiKind { kind: "AllLogger", rust_name: "AllLogger", plural: "allloggers", singular: "alllogger", ..AUDIT };
    const NAMESPACE: ApiKind = ApiKind { kind: "LoggerNamespace", rust_name: "LoggerNamespace", ..AUDIT };
    for (other, list, expected) in [
        (ApiKind { plural: "loggers", ..AUDIT }, LIST, "its resource name `loggers` conflicts with `Logger`"),
        (ApiKind { short_names: &["lg"], ..AUDIT }, LIST, "its resource name `lg` conflicts with `Logger`"),
        (AUDIT, ApiList { kind: "Logger", ..LIST }, "its kind or list kind `Logger` conflicts with `Logger`"),
        (ALL, ApiList { item: "AllLogger", ..LIST }, "its getter `all_loggers` conflicts with that of `AllLogger`"),
        (ApiKind { rust_name: "Copy", ..Logger::API_KIND }, LIST, "its kind `Logger` is also that of `Logger`"),
        (NAMESPACE, ApiList { item: "LoggerNamespace", ..LIST }, "its generated type `LoggerNamespaceLister`"),
    ] {
        let mut types = logger_types::v2::API_GROUP.types.to_vec();
        types.extend([TypeMeta::Kind(other), TypeMeta::List(list)]);
        let group = ApiGroup { types: types.leak(), ..logger_types::v2::API_GROUP };
        let error = generate(&[group], &layout()).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn generated_items_have_the_name_of_the_type_and_definitions_the_kind() {
    const KIND: ApiKind = ApiKind { kind: "log-Ger", ..Logger::API_KIND };
    const LIST: ApiList = ApiList { kind: "log-GerList", item: "log-Ger", items: "items", docs: "" };
    let generated = |types: &'static [TypeMeta]| {
        let group = ApiGroup { types, ..logger_types::v2::API_GROUP };
        let files = generate(&[group], &layout()).unwrap();
        files.into_iter().partition::<Vec<_>, _>(|file| file.path.ends_with(".rs"))
    };
    let (sources, others) = generated(vec![TypeMeta::Kind(KIND), TypeMeta::List(LIST)].leak());
    let (expected, _) = generated(logger_types::v2::API_GROUP.types);
    assert_eq!(sources, expected);
    let names = "    kind: log-Ger\n    listKind: log-GerList\n    plural: loggers\n";
    assert!(others.iter().any(|file| file.contents.contains(names)), "{others:?}");
}

#[test]
fn a_duplicate_group_is_rejected() {
    let group: ApiGroup = logger_types::v2::API_GROUP;
    let error = generate(&[group, group], &Layout::for_types_crate("logger_types")).unwrap_err();
    assert!(error.to_string().contains("example.com/v2 is also declared in `logger_types::v2`"), "{error}");
}

/// Kinds whose derives succeed but for which nothing can be generated.
mod rejected {
    pub(crate) mod v1 {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use kubewright_core::{DeepCopy, Object};

        /// A kind whose client has `list`, but that has no list type.
        #[derive(Clone, Debug, DeepCopy, schemars::JsonSchema, Object)]
        #[genclient]
        pub(crate) struct Unlisted {
            metadata: ObjectMeta,
        }

        kubewright_core::group_version! { group = "rejected.example.com", version = "v1", kinds = [Unlisted] }
    }

    pub(crate) mod v2 {
        use std::collections::BTreeMap;

        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use kubewright_core::{DeepCopy, Object};
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        /// A kind whose spec has no field with a structural schema.
        #[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
        #[k8s(scope = "Cluster", subresource(status))]
        pub(crate) struct Broken {
            metadata: ObjectMeta,
            spec: BrokenSpec,
            status: i32,
        }

        #[derive(Clone, Debug, DeepCopy, Deserialize, JsonSchema, Serialize)]
        pub(crate) struct BrokenSpec {
            bytes: Vec<u8>,
            huge: u128,
            nested: BTreeMap<String, Nested>,
            shape: Shape,
            tree: Tree,
        }

        #[derive(Clone, Debug, DeepCopy, Deserialize, JsonSchema, Serialize)]
        pub(crate) struct Nested {
            pair: (i32, i32),
        }

        #[derive(Clone, Debug, DeepCopy, Deserialize, JsonSchema, Serialize)]
        pub(crate) enum Shape {
            Circle { radius: i32 },
            Dot,
        }

        #[derive(Clone, Debug, DeepCopy, Deserialize, JsonSchema, Serialize)]
        pub(crate) struct Tree {
            children: Vec<Tree>,
        }

        kubewright_core::group_version! { group = "rejected.example.com", version = "v2", kinds = [Broken] }
    }

    pub(crate) mod v3 {
        use k8s_openapi::api::storage::v1::VolumeAttachmentSpec;
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use kubewright_core::{ApplyConfiguration, DeepCopy, Object};
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        /// A kind with fields that cannot be applied.
        #[derive(Clone, Debug, ApplyConfiguration, DeepCopy, JsonSchema, Object)]
        #[genclient(only_verbs = [apply])]
        pub(crate) struct Worn {
            metadata: ObjectMeta,
            volume: VolumeAttachmentSpec,
            twin: Twin,
            other: other::Twin,
        }

        #[derive(Clone, Debug, ApplyConfiguration, DeepCopy, Deserialize, JsonSchema, Serialize)]
        pub(crate) struct Twin {
            name: String,
        }

        pub(crate) mod other {
            use super::*;

            #[derive(Clone, Debug, ApplyConfiguration, DeepCopy, Deserialize, JsonSchema, Serialize)]
            pub(crate) struct Twin {
                size: i32,
            }
        }

        kubewright_core::group_version! { group = "rejected.example.com", version = "v3", kinds = [Worn] }
    }

    pub(crate) mod v4 {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use kubewright_core::{DeepCopy, Object};

        /// A kind with a method that applies it, but without an apply configuration.
        #[derive(Clone, Debug, DeepCopy, schemars::JsonSchema, Object)]
        #[genclient(no_verbs, method(name = mend, verb = apply))]
        pub(crate) struct Torn {
            metadata: ObjectMeta,
        }

        kubewright_core::group_version! { group = "rejected.example.com", version = "v4", kinds = [Torn] }
    }

    pub(crate) mod v5 {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use kubewright_core::{CrdSchema, DeepCopy, Object};
        use serde::{Deserialize, Serialize};

        /// A kind with a field without a structural schema, seven lines below the name of the kind.
        #[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
        #[k8s(scope = "Cluster")]
        pub(crate) struct Located {
            metadata: ObjectMeta,
            spec: LocatedSpec,
        }

        #[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
        pub(crate) struct LocatedSpec {
            pair: (i32, i32),
        }

        kubewright_core::group_version! { group = "rejected.example.com", version = "v5", kinds = [Located] }
    }
}
