//! The generator: drift of the checked-in files, what it does to a tree, and what it refuses.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use logger_codegen::{
    Action, Args, Command, Docs, Drift, File, Layout, Place, Plan, Written, generate, run, run_attributes,
};
use logger_core::Kind;
use logger_core::meta::{ApiGroup, ApiKind, ApiList, TypeMeta};
use logger_types::v1::Logger;
use tempfile::TempDir;

fn workspace(below: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(below)
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

/// A workspace with an empty client package.
fn empty() -> TempDir {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("logger-client")).unwrap();
    fs::write(root.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    fs::write(root.path().join("logger-client/Cargo.toml"), "[package]\n").unwrap();
    root
}

/// How many files and directories there are.
fn count(root: &TempDir) -> usize {
    fs::read_dir(root.path()).unwrap().count() + fs::read_dir(root.path().join("logger-client")).unwrap().count()
}

/// A tree that is as generated.
fn generated() -> TempDir {
    let root = empty();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    root
}

#[test]
fn the_checked_in_files_are_as_generated() {
    for (root, groups) in [(".", logger_types::groups().to_vec()), ("tests/fixture", fixture_types::groups())] {
        let check = run(&groups, &args(&workspace(root), true));
        assert_eq!(check, ExitCode::SUCCESS, "generated files are stale; run `cargo xtask codegen`");
    }
}

#[test]
fn the_page_of_go_tags_is_as_generated() {
    let check = run_attributes(&workspace("."), &args(Path::new("."), true));
    assert_eq!(check, ExitCode::SUCCESS, "docs/attributes.md is stale; run `cargo xtask codegen`");
}

#[test]
fn the_api_reference_is_as_generated() {
    let place = Place { root: Some(workspace(".")), ..Place::default() };
    let check = Command::Docs(Docs { check: true, place }).run(logger_types::groups());
    assert_eq!(check, ExitCode::SUCCESS, "docs/api is stale; run `cargo xtask codegen`");
}

#[test]
fn pages_are_written_checked_and_removed_when_stray() {
    let root = empty();
    let docs = |check| {
        let place = Place { root: Some(root.path().to_owned()), ..Place::default() };
        Command::Docs(Docs { check, place }).run(logger_types::groups())
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
fn explaining_needs_no_tree_and_a_word_that_is_not_there_is_an_error() {
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
fn generating_twice_touches_nothing() {
    let root = generated();
    let modified = |file: &File| fs::metadata(root.path().join(&file.path)).unwrap().modified().unwrap();
    let before: Vec<_> = files().iter().map(modified).collect();
    let done = Plan::new(root.path(), &files(), &layout()).unwrap().write().unwrap();
    assert!(done.iter().all(|(_, written)| *written == Written::Unchanged), "{done:?}");
    assert_eq!(files().iter().map(modified).collect::<Vec<_>>(), before);
}

#[test]
fn check_names_changed_missing_and_stray_files_and_touches_nothing() {
    let root = generated();
    let path = |below: &str| root.path().join(below);
    let scheme = fs::read_to_string(path("logger-client/src/scheme.rs")).unwrap();
    fs::write(path("logger-client/src/scheme.rs"), scheme.replace("Registers", "Register")).unwrap();
    fs::remove_file(path("logger-client/src/typed/example_v1.rs")).unwrap();
    fs::write(path("logger-client/src/typed/old_v1.rs"), &scheme).unwrap();
    fs::write(path("logger-client/src/by_hand.rs"), "//! Ours to keep.\n").unwrap();

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
fn writing_mends_the_tree_and_leaves_what_it_did_not_make() {
    let root = generated();
    let path = |below: &str| root.path().join(below);
    fs::copy(path("logger-client/src/scheme.rs"), path("logger-client/src/typed/old_v1.rs")).unwrap();
    fs::write(path("logger-client/src/by_hand.rs"), "//! Ours to keep.\n").unwrap();
    fs::write(path("config/crd/bases/kustomization.yaml"), "resources: []\n").unwrap();
    fs::write(path("logger-client/src/lib.rs"), "").unwrap();

    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    assert_eq!(drift(root.path()), []);
    assert!(!path("logger-client/src/typed/old_v1.rs").exists());
    assert!(path("logger-client/src/by_hand.rs").exists() && path("config/crd/bases/kustomization.yaml").exists());
}

#[test]
fn what_cannot_be_written_leaves_every_file_as_it_was() {
    let root = generated();
    let lib = root.path().join("logger-client/src/lib.rs");
    fs::write(&lib, "// edited\n").unwrap();
    let stray = root.path().join("logger-client/src/typed/old_v1.rs");
    fs::copy(root.path().join("logger-client/src/scheme.rs"), &stray).unwrap();
    // A directory in the way, since permissions do not stop every user a test may run as.
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
fn no_kinds_is_an_error() {
    let root = empty();
    let before = count(&root);
    assert_eq!(run(&[], &args(root.path(), false)), ExitCode::from(2));
    assert_eq!(count(&root), before);
}

#[test]
fn every_mistake_is_named_with_its_rust_item_and_nothing_is_written() {
    let groups = [refused::v1::API_GROUP];
    let error = generate(&groups, &Layout::for_types_crate("refused")).unwrap_err();
    let items: Vec<_> = error.0.iter().map(|diagnostic| diagnostic.item.as_str()).collect();
    assert_eq!(items, ["codegen::refused::v1::Unlisted"], "{error}");

    let groups = [refused::v2::API_GROUP];
    let error = generate(&groups, &Layout::for_types_crate("refused")).unwrap_err();
    let found: Vec<_> = error.0.iter().map(|d| (d.item.rsplit("::").next().unwrap(), d.message.as_str())).collect();
    let expected = [
        (
            "Broken.spec.bytes",
            "a list of bytes is a list of numbers in JSON, and base64 to all of Kubernetes; use `k8s_openapi::ByteString` with `#[schemars(with = \"String\", extend(\"format\" = \"byte\"))]`, or `Vec<u16>` if a list of numbers is meant",
        ),
        ("Broken.spec.huge", "the API server has no 128-bit integers; use `i64`, or `String` for larger numbers"),
        ("Broken.spec.nested{}.pair", "a tuple has no structural schema; use a struct with named fields"),
        (
            "Broken.spec.shape",
            "variant `Dot` is a string in JSON and others are objects, and a field has one type; write `Dot {}`, which is an object",
        ),
        (
            "Broken.spec.tree.children[]",
            "`Tree` → `Tree` contains itself, and a structural schema has no references; say with `#[schema(depth = N)]` how many levels are spelled out, or break the cycle with `serde_json::Value`",
        ),
        ("Broken.status", "a new object has no status: make it an `Option`, or add `#[serde(default)]`"),
    ];
    assert_eq!(found, expected, "{error}");

    let root = empty();
    let before = count(&root);
    let args = Args { client_dir: Some("logger-client/src".to_owned()), ..args(root.path(), false) };
    assert_eq!(run(&groups, &args), ExitCode::from(2));
    assert_eq!(count(&root), before);
}

#[test]
fn a_place_without_a_package_is_refused() {
    let root = empty();
    fs::remove_file(root.path().join("logger-client/Cargo.toml")).unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::from(2));
    assert_eq!(fs::read_dir(root.path().join("logger-client")).unwrap().count(), 0);
    assert_eq!(run(logger_types::groups(), &args(Path::new("/nowhere"), false)), ExitCode::from(2));
}

#[test]
fn groups_that_begin_alike_get_their_whole_names() {
    let files = generate(&fixture_types::groups(), &Layout::for_types_crate("fixture_types")).unwrap();
    let typed = files.iter().filter_map(|file| file.path.strip_prefix("fixture-client/src/typed/library"));
    assert_eq!(typed.collect::<Vec<_>>(), ["_example_net_v1.rs", "_example_org_v1beta1.rs"]);
}

#[test]
fn layers_are_behind_the_features_that_the_package_declares() {
    let lib = |features: &[&str]| {
        let features = features.iter().map(|feature| (*feature).to_owned()).collect();
        let files = generate(logger_types::groups(), &Layout { features, ..layout() }).unwrap();
        files.into_iter().find(|file| file.path == "logger-client/src/lib.rs").unwrap().contents
    };
    assert!(!lib(&["default", "tls"]).contains("cfg"));
    let gated = lib(&["clientset", "informers"]);
    let gates = gated.lines().filter(|line| line.starts_with("#[cfg")).collect::<Vec<_>>();
    assert_eq!(gates.len(), 6, "clientset, informers, listers, typed, and what lib.rs names of them: {gates:?}");

    let root = empty();
    fs::write(root.path().join("logger-client/Cargo.toml"), "[features]\nscheme = []\n").unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    let written = fs::read_to_string(root.path().join("logger-client/src/lib.rs")).unwrap();
    assert!(written.contains("#[cfg(feature = \"scheme\")]") && !written.contains("#[cfg(feature = \"clientset\")]"));
    fs::write(root.path().join("logger-client/Cargo.toml"), "[features\n").unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), true)), ExitCode::from(2));
}

#[test]
fn what_cannot_be_applied_is_refused_with_the_field_named() {
    let refused = generate(&[refused::v3::API_GROUP], &layout()).unwrap_err().to_string();
    for expected in [
        "::v3::Worn.volume`: `io.k8s.api.storage.v1.VolumeAttachmentSpec` has no apply configuration in logger-apply; say \
         `#[apply(atomic)]`",
        "::v3::other::Twin`: its generated type `TwinApply` is that of `codegen::refused::v3::Twin` too; rename one",
    ] {
        assert!(refused.contains(expected), "{expected}\n{refused}");
    }
    let refused = generate(&[refused::v4::API_GROUP], &layout()).unwrap_err().to_string();
    assert!(refused.contains("::v4::Torn`: its method `mend` applies it: derive `ApplyConfiguration`"), "{refused}");
}

#[test]
fn a_word_for_a_group_settles_a_clash_and_one_is_proposed() {
    let group = logger_types::v1::API_GROUP;
    let other = ApiGroup { group: "other.org", group_ident: Some("example"), ..group };
    let refused = generate(&[group, other], &layout()).unwrap_err().to_string();
    assert!(
        refused
            .contains("`example_v1` is that of `example.com` too; give it another with `group_ident = \"other_org\"`"),
        "{refused}"
    );
    let settled = ApiGroup { group_ident: Some("other"), ..other };
    let files = generate(&[group, settled], &layout()).unwrap();
    assert!(files.iter().any(|file| file.path.ends_with("typed/other_v1.rs")));
}

#[test]
fn a_stray_that_cannot_be_removed_leaves_every_file_as_it_was() {
    let root = generated();
    let lib = root.path().join("logger-client/src/lib.rs");
    fs::write(&lib, "// edited\n").unwrap();
    let strays = ["a_v1.rs", "b_v1.rs"].map(|name| root.path().join("logger-client/src/typed").join(name));
    for stray in &strays {
        fs::copy(root.path().join("logger-client/src/scheme.rs"), stray).unwrap();
    }
    // What the second stray would be moved to is taken by a directory.
    fs::create_dir(root.path().join("logger-client/src/typed/.b_v1.rs.old")).unwrap();
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::from(2));
    assert_eq!(fs::read_to_string(&lib).unwrap(), "// edited\n");
    assert!(strays.iter().all(|stray| stray.exists()));
}

#[test]
fn types_crates_that_share_a_directory_keep_each_others_files() {
    let root = generated();
    fs::create_dir(root.path().join("fixture-client")).unwrap();
    fs::write(root.path().join("fixture-client/Cargo.toml"), "[package]\n").unwrap();
    assert_eq!(run(&fixture_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    for groups in [logger_types::groups().to_vec(), fixture_types::groups()] {
        assert_eq!(run(&groups, &args(root.path(), true)), ExitCode::SUCCESS);
    }
}

#[cfg(unix)]
#[test]
fn what_is_behind_a_link_is_not_ours_to_remove() {
    let (root, other) = (generated(), generated());
    let link = root.path().join("logger-client/src/vendored");
    std::os::unix::fs::symlink(other.path().join("logger-client/src"), link).unwrap();
    assert_eq!(drift(root.path()), []);
    assert_eq!(run(logger_types::groups(), &args(root.path(), false)), ExitCode::SUCCESS);
    assert_eq!(drift(other.path()), []);
}

#[test]
fn kinds_that_would_share_a_name_are_refused() {
    const AUDIT: ApiKind =
        ApiKind { kind: "Audit", plural: "audits", singular: "audit", short_names: &[], ..Logger::API_KIND };
    const LIST: ApiList = ApiList { kind: "AuditList", item: "Audit", items: "items", docs: "" };
    const ALL: ApiKind = ApiKind { kind: "AllLogger", plural: "allloggers", singular: "alllogger", ..AUDIT };
    const NAMESPACE: ApiKind = ApiKind { kind: "LoggerNamespace", ..AUDIT };
    for (other, list, expected) in [
        (ApiKind { plural: "loggers", ..AUDIT }, LIST, "its resource name `loggers` is one of `Logger` too"),
        (ApiKind { short_names: &["lg"], ..AUDIT }, LIST, "its resource name `lg` is one of `Logger` too"),
        (AUDIT, ApiList { kind: "Logger", ..LIST }, "its kind or list kind `Logger` is one of `Logger` too"),
        (ALL, ApiList { item: "AllLogger", ..LIST }, "its getter `all_loggers` is that of `AllLogger` too"),
        (ApiKind { rust_name: "Copy", ..Logger::API_KIND }, LIST, "its kind `Logger` is that of `Logger` too"),
        (NAMESPACE, ApiList { item: "LoggerNamespace", ..LIST }, "its generated type `LoggerNamespaceLister`"),
    ] {
        let mut types = logger_types::v1::API_GROUP.types.to_vec();
        types.extend([TypeMeta::Kind(other), TypeMeta::List(list)]);
        let group = ApiGroup { types: types.leak(), ..logger_types::v1::API_GROUP };
        let error = generate(&[group], &layout()).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_group_declared_twice_is_refused() {
    let group: ApiGroup = logger_types::v1::API_GROUP;
    let error = generate(&[group, group], &Layout::for_types_crate("logger_types")).unwrap_err();
    assert!(error.to_string().contains("example.com/v1 is declared in `logger_types::v1` too"), "{error}");
}

/// Kinds that derive well but cannot be generated.
mod refused {
    pub(crate) mod v1 {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use logger_core::{DeepCopy, Object};

        /// Its client lists, but it has no list.
        #[derive(Clone, Debug, DeepCopy, schemars::JsonSchema, Object)]
        #[genclient]
        pub(crate) struct Unlisted {
            metadata: ObjectMeta,
        }

        logger_core::group_version! { group = "refused.example.com", version = "v1", kinds = [Unlisted] }
    }

    pub(crate) mod v2 {
        use std::collections::BTreeMap;

        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use logger_core::{DeepCopy, Object};
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        /// No field of its spec has a structural schema.
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

        logger_core::group_version! { group = "refused.example.com", version = "v2", kinds = [Broken] }
    }

    pub(crate) mod v3 {
        use k8s_openapi::api::storage::v1::VolumeAttachmentSpec;
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use logger_core::{ApplyConfiguration, DeepCopy, Object};
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        /// It cannot all be applied.
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

        logger_core::group_version! { group = "refused.example.com", version = "v3", kinds = [Worn] }
    }

    pub(crate) mod v4 {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
        use logger_core::{DeepCopy, Object};

        /// A method applies it, and it has no apply configuration.
        #[derive(Clone, Debug, DeepCopy, schemars::JsonSchema, Object)]
        #[genclient(no_verbs, method(name = mend, verb = apply))]
        pub(crate) struct Torn {
            metadata: ObjectMeta,
        }

        logger_core::group_version! { group = "refused.example.com", version = "v4", kinds = [Torn] }
    }
}
