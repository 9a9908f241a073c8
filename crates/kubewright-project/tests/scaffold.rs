//! The plans of projects, and how they are written.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use kubewright_project::{
    cli::writer::{write, write_file},
    scaffold::{
        Dependencies, Model, NewWebhooks, Plan, Problems, Rename, Resource, ResourceWebhooks, Step, Tree, create_api,
        create_version, create_webhooks, delete_api, edit, init, overwritten, rename_api,
    },
};

fn model(name: &str, domain: &str) -> Model {
    Model { name: name.to_owned(), domain: domain.to_owned(), namespaced: false, resources: Vec::new() }
}

fn version(version: &str) -> Dependencies {
    Dependencies::Version(version.to_owned())
}

/// Returns the tree of a new project.
fn project() -> Tree {
    executed(&Tree::default(), &init(&model("my-operator", "example.com"), &version("1.0.0")).unwrap())
}

fn resource(kind: &str, plural: &str) -> Resource {
    Resource {
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: true,
        controller: true,
        webhooks: ResourceWebhooks::default(),
    }
}

fn widget() -> Resource {
    resource("Widget", "widgets")
}

/// Returns the tree after a plan.
fn executed(tree: &Tree, plan: &Plan) -> Tree {
    let mut files = tree.0.clone();
    for step in &plan.steps {
        match step {
            Step::Create { path, contents } => {
                assert!(files.insert(path.clone(), contents.clone()).is_none(), "{path}")
            }
            Step::Replace { path, contents } | Step::Edit { path, contents, .. } => {
                assert!(files.insert(path.clone(), contents.clone()).is_some(), "{path}");
            }
            Step::Remove { path } => assert!(files.remove(path).is_some(), "{path}"),
        }
    }
    Tree(files)
}

/// Returns the tree after a plan that has no steps when it is planned again.
fn idempotent(tree: &Tree, plan: impl Fn(&Tree) -> Result<Plan, Problems>) -> Tree {
    let after = executed(tree, &plan(tree).unwrap());
    assert_eq!(plan(&after).unwrap().steps, []);
    after
}

fn with_widget() -> Tree {
    idempotent(&project(), |tree| create_api(tree, &widget()))
}

fn changed(tree: &Tree, path: &str, contents: Option<&str>) -> Tree {
    let mut files = tree.0.clone();
    match contents {
        Some(contents) => drop(files.insert(path.to_owned(), contents.to_owned())),
        None => drop(files.remove(path).unwrap()),
    }
    Tree(files)
}

fn file<'a>(tree: &'a Tree, path: &str) -> &'a str {
    tree.0.get(path).unwrap_or_else(|| panic!("{path} does not exist"))
}

#[test]
fn a_project_has_few_files() {
    let paths: Vec<_> = project().0.into_keys().collect();
    let expected = [
        ".cargo/config.toml",
        ".dockerignore",
        ".github/workflows/ci.yaml",
        ".gitignore",
        "Cargo.toml",
        "Dockerfile",
        "PROJECT",
        "README.md",
        "config/project.toml",
        "my-operator-client/Cargo.toml",
        "my-operator-client/src/lib.rs",
        "my-operator-types/Cargo.toml",
        "my-operator-types/src/groups.rs",
        "my-operator-types/src/lib.rs",
        "my-operator/Cargo.toml",
        "my-operator/src/controllers.rs",
        "my-operator/src/lib.rs",
        "my-operator/src/main.rs",
        "my-operator/src/options.rs",
        "my-operator/src/webhooks.rs",
        "my-operator/tests/description.rs",
        "rust-toolchain.toml",
        "rustfmt.toml",
        "xtask/Cargo.toml",
        "xtask/src/main.rs",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn no_name_of_a_template_is_left() {
    let cluster_scoped = Resource { namespaced: false, ..resource("Person", "people") };
    let tree = idempotent(&with_widget(), |tree| create_api(tree, &cluster_scoped));
    for (path, contents) in &tree.0 {
        assert!(!contents.contains("{{") || path.ends_with(".rs"), "{path}");
        let names = ["{{name", "{{crate", "{{types", "{{client", "{{kind", "{{module", "{{version", "{{domain"];
        assert!(!names.iter().any(|name| contents.contains(name)), "{path}");
    }
}

#[test]
fn dependencies_are_versions_or_paths() {
    assert!(file(&project(), "Cargo.toml").contains("\nkubewright-core = { version = \"1.0.0\" }\n"));
    let path = Dependencies::Path("/src/toolchain".to_owned());
    let tree = executed(&Tree::default(), &init(&model("a", "example.com"), &path).unwrap());
    assert!(file(&tree, "Cargo.toml").contains("\nkubewright-core = { path = \"/src/toolchain/kubewright-core\" }\n"));
    assert!(toml::from_str::<toml::Table>(file(&tree, "Cargo.toml")).is_ok());
}

#[test]
fn an_api_is_created_with_one_line_in_a_file_of_the_user() {
    let plan = create_api(&project(), &widget()).unwrap();
    let expected = "\
        replace PROJECT\n\
        create  config/samples/apps_v1_widget.yaml\n\
        create  my-operator-types/src/apps_v1.rs\n\
        create  my-operator-types/src/apps_v1/widget.rs\n\
        replace my-operator-types/src/groups.rs\n\
        edit    my-operator-types/src/lib.rs: the line `pub mod apps_v1;` is inserted, which makes the new version part \
        of the crate\n\
        replace my-operator/src/controllers.rs\n\
        create  my-operator/src/controllers/widget.rs\n\
        create  my-operator/tests/widget.rs\n";
    assert_eq!(plan.to_string(), expected);
}

#[test]
fn a_second_kind_of_a_version_changes_no_file_of_the_user() {
    let plan = create_api(&with_widget(), &resource("Gadget", "gadgets")).unwrap();
    assert!(!plan.steps.iter().any(|step| matches!(step, Step::Edit { .. })), "{plan}");
    let tree = executed(&with_widget(), &plan);
    let version = file(&tree, "my-operator-types/src/apps_v1.rs");
    assert!(version.contains("mod gadget;\nmod widget;\n\npub use gadget::*;\npub use widget::*;\n"), "{version}");
    let controllers = file(&tree, "my-operator/src/controllers.rs");
    assert!(controllers.contains("gadget::add_to(manager, setup);\n    manager = widget::add_to"), "{controllers}");
}

#[test]
fn a_kind_without_a_controller_can_get_one() {
    let without = Resource { controller: false, ..widget() };
    let tree = idempotent(&project(), |tree| create_api(tree, &without));
    assert!(!tree.0.contains_key("my-operator/src/controllers/widget.rs"));
    assert_eq!(idempotent(&tree, |tree| create_api(tree, &widget())), with_widget());
}

#[test]
fn the_plural_and_the_scope_are_declared() {
    let people = Resource { group: String::new(), namespaced: false, ..resource("Person", "people") };
    let tree = idempotent(&project(), |tree| create_api(tree, &people));
    let source = file(&tree, "my-operator-types/src/example_v1/person.rs");
    assert!(source.contains("#[genclient(non_namespaced)]\n#[k8s(plural = \"people\", storage, subresource(status))]"));
    assert!(file(&tree, "config/samples/v1_person.yaml").starts_with("apiVersion: example.com/v1\nkind: Person\n"));
}

fn webhooks() -> NewWebhooks {
    NewWebhooks { group: "apps".to_owned(), kind: "Widget".to_owned(), ..NewWebhooks::default() }
}

#[test]
fn webhooks_are_created_without_a_change_of_a_file_of_the_user() {
    let request = NewWebhooks { defaulting: true, validation: true, ..webhooks() };
    let plan = create_webhooks(&with_widget(), &request).unwrap();
    let expected = "\
        replace PROJECT\n\
        replace my-operator/src/webhooks.rs\n\
        create  my-operator/src/webhooks/widget_defaulter.rs\n\
        create  my-operator/src/webhooks/widget_validator.rs\n";
    assert_eq!(plan.to_string(), expected);
    let tree = idempotent(&with_widget(), |tree| create_webhooks(tree, &request));
    let list = file(&tree, "my-operator/src/webhooks.rs");
    assert!(list.contains("mod widget_defaulter;\nmod widget_validator;\n"), "{list}");
    assert!(list.contains("let webhooks = widget_validator::add_to(webhooks, client);\n    webhooks\n"), "{list}");
    assert!(file(&tree, "my-operator/src/webhooks/widget_defaulter.rs").contains("webhooks.defaulter::<Widget>"));
    assert!(file(&tree, "PROJECT").contains("webhookVersion: v1"), "{}", file(&tree, "PROJECT"));
}

#[test]
fn versions_are_converted_through_a_hub() {
    let tree = executed(&with_widget(), &create_version(&with_widget(), "apps", "Widget", "v2").unwrap());
    let request = NewWebhooks { hub: Some("v2".to_owned()), ..webhooks() };
    let tree = idempotent(&tree, |tree| create_webhooks(tree, &request));
    let conversion = file(&tree, "my-operator/src/webhooks/widget_conversion.rs");
    assert!(conversion.contains("const HUB: &str = \"apps.example.com/v2\";"), "{conversion}");
    assert!(conversion.contains("new(\"apps.example.com\", \"Widget\", \"widgets\")"), "{conversion}");
    let validated = NewWebhooks { validation: true, version: Some("v1".to_owned()), ..webhooks() };
    let tree = idempotent(&tree, |tree| create_webhooks(tree, &validated));
    let validator = file(&tree, "my-operator/src/webhooks/widget_validator.rs");
    assert!(validator.contains("use my_operator_types::apps_v1::Widget;"), "{validator}");
    let rename = Rename { group: "apps".to_owned(), kind: "Widget".to_owned(), to: "Gadget".to_owned() };
    let tree = executed(&tree, &rename_api(&tree, &rename).unwrap());
    assert!(file(&tree, "my-operator/src/webhooks/gadget_validator.rs").contains("impl Validator<Gadget>"));
}

#[test]
fn webhooks_that_cannot_be_created_are_problems() {
    let error = |tree: &Tree, request: NewWebhooks| create_webhooks(tree, &request).unwrap_err().to_string();
    let tree = with_widget();
    assert!(error(&tree, webhooks()).contains("nothing to create; use `--defaulting`"));
    let unknown = NewWebhooks { kind: "Gadget".to_owned(), validation: true, ..webhooks() };
    assert!(error(&tree, unknown).contains("no such version of a kind Gadget"));
    let hub = NewWebhooks { hub: Some("v1".to_owned()), ..webhooks() };
    assert!(error(&tree, hub).contains("Widget has one version, which needs no conversion"));
    let two = executed(&tree, &create_version(&tree, "apps", "Widget", "v2").unwrap());
    let ambiguous = NewWebhooks { validation: true, ..webhooks() };
    assert!(error(&two, ambiguous).contains("Widget has the versions v1, v2; select one with `--version`"));
    let first = NewWebhooks { validation: true, version: Some("v1".to_owned()), ..webhooks() };
    let two = executed(&two, &create_webhooks(&two, &first).unwrap());
    let second = NewWebhooks { validation: true, version: Some("v2".to_owned()), ..webhooks() };
    assert!(error(&two, second).contains("have webhooks of one name"));
    assert!(delete_api(&two, "apps", "Widget", "v1").unwrap_err().to_string().contains("controller"));
}

#[test]
fn a_version_is_a_copy_that_is_not_stored() {
    let path = "my-operator-types/src/apps_v1/widget.rs";
    let edited = file(&with_widget(), path).replace("purpose", "color");
    let tree = changed(&with_widget(), path, Some(&edited));
    let tree = idempotent(&tree, |tree| create_version(tree, "apps", "Widget", "v2"));
    let copy = file(&tree, "my-operator-types/src/apps_v2/widget.rs");
    assert_eq!(copy, edited.replace("storage, ", ""));
    assert!(!tree.0.contains_key("my-operator/src/controllers/v2.rs"));
    assert!(file(&tree, "my-operator-types/src/lib.rs").contains("pub mod apps_v1;\npub mod apps_v2;\n"));
}

#[test]
fn only_contents_of_the_user_are_overwritten() {
    let tree = with_widget();
    let gadget = create_api(&tree, &resource("Gadget", "gadgets")).unwrap();
    assert!(overwritten(&tree, &gadget).unwrap().is_empty(), "{gadget}");
    let groups = "my-operator-types/src/groups.rs";
    let edited = changed(&tree, groups, Some(&format!("{}// Mine.\n", file(&tree, groups))));
    let tools = Resource { group: "tools".to_owned(), ..resource("Gadget", "gadgets") };
    assert_eq!(overwritten(&edited, &create_api(&edited, &tools).unwrap()).unwrap(), [groups]);
    let deleted = delete_api(&tree, "apps", "Widget", "v1").unwrap();
    let expected = [
        "config/samples/apps_v1_widget.yaml",
        "my-operator-types/src/apps_v1/widget.rs",
        "my-operator/src/controllers/widget.rs",
        "my-operator/tests/widget.rs",
    ];
    assert_eq!(overwritten(&tree, &deleted).unwrap(), expected);
}

#[test]
fn a_deleted_api_leaves_nothing() {
    assert_eq!(executed(&with_widget(), &delete_api(&with_widget(), "apps", "Widget", "v1").unwrap()), project());
}

#[test]
fn the_generated_files_of_the_last_api_are_removed() {
    let client = "my-operator-client/src";
    let mark = "// @generated by `cargo xtask codegen` from `my_operator_types`. Do not edit.\n";
    let tree = changed(&with_widget(), &format!("{client}/lib.rs"), Some(&format!("{mark}pub mod typed;\n")));
    let tree = changed(&tree, &format!("{client}/typed.rs"), Some(mark));
    assert_eq!(executed(&tree, &delete_api(&tree, "apps", "Widget", "v1").unwrap()), project());
}

#[test]
fn a_renamed_kind_is_as_one_that_was_created() {
    let rename = Rename { group: "apps".to_owned(), kind: "Widget".to_owned(), to: "LogFile".to_owned() };
    let renamed = idempotent(&with_widget(), |tree| rename_api(tree, &rename));
    let created = executed(&project(), &create_api(&project(), &resource("LogFile", "logfiles")).unwrap());
    assert_eq!(renamed, created);
}

#[test]
fn a_rename_lists_other_files_with_the_name() {
    let path = "my-operator/src/helper.rs";
    let tree = changed(&with_widget(), path, Some("//! Help.\n\nuse a::WidgetSpec;\n"));
    let rename = Rename { group: "apps".to_owned(), kind: "Widget".to_owned(), to: "Gadget".to_owned() };
    let plan = rename_api(&tree, &rename).unwrap();
    assert_eq!(plan.notes, ["my-operator/src/helper.rs:3 contains Widget; change it"]);
}

#[test]
fn the_scope_of_the_operator_is_edited() {
    let tree = idempotent(&project(), |tree| edit(tree, true));
    assert!(file(&tree, "config/project.toml").contains("\nnamespaced = true\n"));
    assert!(file(&tree, "PROJECT").contains("\nnamespaced: true\n"));
    assert_eq!(idempotent(&tree, |tree| edit(tree, false)), project());
}

#[test]
fn all_problems_of_a_project_are_reported() {
    let problems = init(&model("My_Operator", "example"), &version("1.0.0")).unwrap_err();
    assert_eq!(problems.0.len(), 2, "{problems}");
}

#[test]
fn problems_of_a_request_are_reported_together() {
    let bad = Resource {
        group: "Apps".to_owned(),
        version: "1".to_owned(),
        kind: "widget".to_owned(),
        plural: "Widgets".to_owned(),
        ..widget()
    };
    let problems = create_api(&project(), &bad).unwrap_err();
    for part in ["invalid group `Apps`", "invalid version `1`", "invalid kind `widget`", "invalid plural `Widgets`"] {
        assert!(problems.to_string().contains(part), "{problems}");
    }
}

#[test]
fn clashes_are_problems() {
    for (other, expected) in [
        (resource("Widget", "wodgets"), "Widget exists as `widgets`, namespaced"),
        (Resource { namespaced: false, ..widget() }, "Widget exists as `widgets`, namespaced"),
        (Resource { version: "v2".to_owned(), ..widget() }, "use `create version`"),
        (resource("Gadget", "widgets"), "no two have the same"),
        (resource("WidgetList", "widgetlists"), "types or modules of one name"),
        (Resource { group: "tools".to_owned(), ..widget() }, "controllers of one name"),
        (resource("Description", "descriptions"), "my-operator/tests/description.rs exists"),
    ] {
        let problems = create_api(&with_widget(), &other).unwrap_err().to_string();
        assert!(problems.contains(expected), "{problems}");
    }
}

#[test]
fn changed_and_missing_files_are_problems() {
    for (path, contents, expected) in [
        ("PROJECT", None, "there is no file PROJECT"),
        ("PROJECT", Some("version: '2'\n"), "cannot read PROJECT"),
        ("my-operator-types/src/lib.rs", None, "my-operator-types/src/lib.rs does not exist"),
        ("my-operator-types/src/groups.rs", None, "my-operator-types/src/groups.rs does not exist"),
        ("my-operator/src/controllers.rs", Some("// mine\n"), "my-operator/src/controllers.rs was not written"),
        ("my-operator-types/src/apps_v1/widget.rs", None, "my-operator-types/src/apps_v1/widget.rs does not exist"),
        ("my-operator-types/src/apps_v1/gadget.rs", Some("// mine\n"), "gadget.rs exists and is not part"),
    ] {
        let tree = changed(&with_widget(), path, contents);
        let problems = create_api(&tree, &resource("Gadget", "gadgets")).unwrap_err().to_string();
        assert!(problems.contains(expected), "{problems}");
    }
}

#[test]
fn unknown_kinds_are_problems() {
    let tree = with_widget();
    let rename = Rename { group: "apps".to_owned(), kind: "Gadget".to_owned(), to: "Thing".to_owned() };
    for problems in [
        create_version(&tree, "apps", "Gadget", "v2"),
        delete_api(&tree, "apps", "Gadget", "v1"),
        delete_api(&tree, "apps", "Widget", "v2"),
        rename_api(&tree, &rename),
    ] {
        assert!(problems.unwrap_err().to_string().contains("PROJECT has no such version"));
    }
}

#[test]
fn the_version_of_a_controller_is_deleted_last() {
    let tree = idempotent(&with_widget(), |tree| create_version(tree, "apps", "Widget", "v2"));
    let problems = delete_api(&tree, "apps", "Widget", "v1").unwrap_err().to_string();
    assert!(problems.contains("delete the other versions first"), "{problems}");
    assert_eq!(executed(&tree, &delete_api(&tree, "apps", "Widget", "v2").unwrap()), with_widget());
}

/// Returns the files and directories below a directory, with the contents of files.
fn on_disk(root: &Path) -> BTreeMap<String, Option<String>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.insert(name, fs::read_to_string(&path).ok());
            if path.is_dir() {
                pending.push(path);
            }
        }
    }
    found
}

#[test]
fn a_plan_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("new/project");
    let created = init(&model("my-operator", "example.com"), &version("1.0.0")).unwrap();
    write(&root, &created).unwrap();
    write(&root, &create_api(&project(), &widget()).unwrap()).unwrap();
    let before = on_disk(&root);
    let files = before.iter().filter_map(|(path, contents)| Some((path.clone(), contents.clone()?)));
    assert_eq!(Tree(files.collect()), with_widget());
    write(&root, &delete_api(&with_widget(), "apps", "Widget", "v1").unwrap()).unwrap();
    let files = on_disk(&root);
    assert!(!files.contains_key("my-operator-types/src/apps_v1"), "empty directories are removed: {files:?}");
}

#[test]
fn a_failure_leaves_the_tree_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    fs::write(root.join("a.txt"), "a").unwrap();
    fs::write(root.join("b.txt"), "b").unwrap();
    let before = on_disk(root);
    let create = |path: &str| Step::Create { path: path.to_owned(), contents: "new".to_owned() };
    let steps = [
        create("c/d/e.txt"),
        Step::Replace { path: "a.txt".to_owned(), contents: "new".to_owned() },
        Step::Remove { path: "b.txt".to_owned() },
    ];
    // The first fails when it is staged, the second when everything before it is written.
    for last in [create("a.txt/f.txt"), Step::Remove { path: "missing.txt".to_owned() }] {
        let plan = Plan { steps: steps.iter().cloned().chain([last]).collect(), ..Plan::default() };
        let error = write(root, &plan).unwrap_err().to_string();
        assert!(error.starts_with("nothing was changed: cannot write "), "{error}");
        assert_eq!(on_disk(root), before);
    }
}

#[test]
fn a_file_that_exists_is_not_replaced_by_a_new_one() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), "a").unwrap();
    let step = Step::Create { path: "a.txt".to_owned(), contents: "new".to_owned() };
    assert!(write(directory.path(), &Plan { steps: vec![step], ..Plan::default() }).is_err());
    assert_eq!(fs::read_to_string(directory.path().join("a.txt")).unwrap(), "a");
}

#[test]
fn one_file_is_replaced_or_as_before() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let path = root.join("dist/install.yaml");
    for contents in ["one", "two"] {
        write_file(&path, contents).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), contents);
    }
    fs::create_dir(root.join("dist/directory")).unwrap();
    let before = on_disk(root);
    assert!(write_file(&root.join("dist/directory"), "three").is_err());
    assert_eq!(on_disk(root), before);
}

fn cargo_logger(args: &[&str], directory: &Path) -> (bool, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-kubewright"));
    let output = program.args(["logger", "init"]).args(args).current_dir(directory).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn a_directory_that_is_not_empty_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("a")).unwrap();
    fs::write(directory.path().join("a/mine.txt"), "").unwrap();
    let (success, output) =
        cargo_logger(&["--domain", "example", "--name", "a", "--source", "nowhere"], directory.path());
    assert!(!success);
    for part in ["a is not empty", "nowhere is not a checkout", "invalid domain `example`"] {
        assert!(output.contains(part), "{output}");
    }
    assert_eq!(on_disk(&directory.path().join("a")).len(), 1);
}

#[test]
fn a_dry_run_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (success, output) = cargo_logger(&["--domain", "example.com", "--name", "a", "--dry-run"], directory.path());
    assert!(success, "{output}");
    assert!(output.contains("create  a-types/src/lib.rs\n"), "{output}");
    assert!(on_disk(directory.path()).is_empty());
}
