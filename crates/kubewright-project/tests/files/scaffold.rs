//! The plans of projects, and how they are written.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use kubewright_project::{
    cli::writer::{write, write_file},
    scaffold::{
        Dependencies, External, Imported, Model, NewWebhooks, Plan, Problems, Reference, Rename, Resource,
        ResourceWebhooks, Step, Tree, create_api, create_version, create_webhooks, delete_api, delete_import, edit,
        import, init, overwritten, rename_api,
    },
};

/// Returns the root of this repository.
fn checkout() -> PathBuf {
    Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..")
}

fn model(name: &str, domain: &str) -> Model {
    Model {
        name: name.to_owned(),
        domain: domain.to_owned(),
        namespaced: false,
        resources: Vec::new(),
        externals: Vec::new(),
    }
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
        "my-operator/src/definitions.rs",
        "my-operator/src/lib.rs",
        "my-operator/src/main.rs",
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
fn dependencies_are_commits_paths_or_versions() {
    let git = |reference| Dependencies::Git { url: "https://example.com/a.git".to_owned(), reference };
    for (dependencies, expected) in [
        (version("1.0.0"), "version = \"1.0.0\""),
        (Dependencies::Path("../toolchain".to_owned()), "path = \"../toolchain/crates/kubewright\""),
        (git(None), "git = \"https://example.com/a.git\""),
        (git(Some(Reference::Rev("abc".to_owned()))), "git = \"https://example.com/a.git\", rev = \"abc\""),
        (git(Some(Reference::Tag("v1".to_owned()))), "git = \"https://example.com/a.git\", tag = \"v1\""),
        (git(Some(Reference::Branch("main".to_owned()))), "git = \"https://example.com/a.git\", branch = \"main\""),
    ] {
        let tree = executed(&Tree::default(), &init(&model("a", "example.com"), &dependencies).unwrap());
        let manifest = file(&tree, "Cargo.toml");
        assert!(manifest.contains(&format!("\nkubewright = {{ {expected} }}\n")), "{manifest}");
        assert!(toml::from_str::<toml::Table>(manifest).is_ok());
        let is_outside = matches!(dependencies, Dependencies::Path(_));
        assert_eq!(file(&tree, "README.md").contains("outside of the build context"), is_outside);
        let others = tree.0.iter().filter(|(path, _)| *path != "Cargo.toml" && *path != "README.md");
        assert!(!others.clone().any(|(_, contents)| contents.contains("../toolchain")), "{others:?}");
    }
}

#[test]
fn an_api_is_created_with_one_line_in_a_file_of_the_user() {
    let plan = create_api(&project(), &widget()).unwrap();
    let expected = "\
        replace PROJECT\n\
        edit    config/project.toml: the line `samples = [\"apps_v1_widget.yaml\"]` is set\n\
        create  config/samples/apps_v1_widget.yaml\n\
        create  my-operator-types/src/apps_v1.rs\n\
        create  my-operator-types/src/apps_v1/widget.rs\n\
        replace my-operator-types/src/groups.rs\n\
        edit    my-operator-types/src/lib.rs: the line `pub mod apps_v1;` is inserted, which makes the new version part \
        of the crate\n\
        replace my-operator/src/controllers.rs\n\
        create  my-operator/src/controllers/widget.rs\n\
        replace my-operator/src/definitions.rs\n\
        create  my-operator/tests/widget.rs\n";
    assert_eq!(plan.to_string(), expected);
}

#[test]
fn a_second_kind_of_a_version_changes_no_file_of_the_user() {
    let plan = create_api(&with_widget(), &resource("Gadget", "gadgets")).unwrap();
    let edits: Vec<_> = plan.steps.iter().filter(|step| matches!(step, Step::Edit { .. })).map(Step::path).collect();
    assert_eq!(edits, ["config/project.toml"], "{plan}");
    let tree = executed(&with_widget(), &plan);
    let version = file(&tree, "my-operator-types/src/apps_v1.rs");
    assert!(version.contains("mod gadget;\nmod widget;\n\npub use gadget::*;\npub use widget::*;\n"), "{version}");
    let controllers = file(&tree, "my-operator/src/controllers.rs");
    assert!(
        controllers.contains(".controller(gadget::controller)\n        .controller(widget::controller)"),
        "{controllers}"
    );
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
    assert!(list.contains("    widget_validator::add_to(webhooks, client)\n}\n"), "{list}");
    assert!(file(&tree, "my-operator/src/webhooks/widget_defaulter.rs").contains("webhooks.defaulter::<Widget>"));
    assert!(file(&tree, "PROJECT").contains("webhookVersion: v1"), "{}", file(&tree, "PROJECT"));
}

#[test]
fn versions_are_converted_through_a_hub() {
    let two_versions = executed(&with_widget(), &create_version(&with_widget(), "apps", "Widget", "v2").unwrap());
    let request = NewWebhooks { hub: Some("v2".to_owned()), ..webhooks() };
    let plan = create_webhooks(&two_versions, &request).unwrap().to_string();
    let edit = "edit    my-operator-types/src/apps_v1/widget.rs: `#[convert(hub = crate::apps_v2::Widget)]` and the like \
                on Widget, WidgetSpec, WidgetStatus";
    assert!(plan.contains(edit) && !plan.contains("note:"), "{plan}");
    let tree = idempotent(&two_versions, |tree| create_webhooks(tree, &request));
    let conversion = file(&tree, "my-operator/src/webhooks/widget_conversion.rs");
    let converter = "Converter::hub::<apps_v2::Widget>().spoke::<apps_v1::Widget>().build()";
    assert!(conversion.contains(converter), "{conversion}");
    assert!(conversion.contains("use my_operator_types::{apps_v1, apps_v2};"), "{conversion}");
    let third = create_version(&tree, "apps", "Widget", "v3").unwrap();
    assert!(third.notes[0].ends_with("widget_conversion.rs: add `.spoke::<apps_v3::Widget>()`"), "{third}");
    let third = executed(&tree, &third);
    let copied = file(&third, "my-operator-types/src/apps_v3/widget.rs");
    assert!(copied.contains("#[convert(hub = crate::apps_v2::WidgetSpec)]\npub struct WidgetSpec"), "{copied}");
    let types = "my-operator-types/src/apps_v2/widget.rs";
    let renamed = file(&two_versions, types).replace("WidgetStatus", "WidgetState");
    let differing = create_webhooks(&changed(&two_versions, types, Some(&renamed)), &request).unwrap();
    let note = "apps_v1/widget.rs: add `#[convert(hub = ..)]` with the type of v2 to WidgetStatus";
    assert!(differing.notes[0].ends_with(note), "{differing}");
    let single = file(&two_versions, types).replace("ApiObject", "DeepCopy, CrdSchema, Object");
    let single = create_webhooks(&changed(&two_versions, types, Some(&single)), &request).unwrap();
    let note = "apps_v2/widget.rs: derive `Convert` on Widget and its types, with `#[convert(..)]`";
    assert!(single.notes.iter().any(|single| single.ends_with(note)), "{single}");
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

fn cargo_kubewright(args: &[&str], directory: &Path) -> (bool, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-kubewright"));
    let output = program.args(["kubewright", "init"]).args(args).current_dir(directory).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn definitions_are_compared_without_a_project() {
    let directory = tempfile::tempdir().unwrap();
    let definition = |kind: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: as.example.com}}\nspec:\n  \
             group: example.com\n  scope: Namespaced\n  names: {{kind: A, plural: as}}\n  versions:\n  - name: v1\n    served: \
             true\n    storage: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{a: {{type: {kind}}}}}}}}}\n"
        )
    };
    fs::write(directory.path().join("old.yaml"), definition("string")).unwrap();
    fs::write(directory.path().join("new.yaml"), definition("integer")).unwrap();
    for (files, code, printed) in [
        (&["old.yaml", "old.yaml"][..], 0, "no change in 1 common definition, from old.yaml to old.yaml"),
        (&["old.yaml", "new.yaml"], 1, "breaking"),
        (&["old.yaml"], 2, "run `cargo xtask crd diff` in it, or compare two files"),
        (&["old.yaml", "missing.yaml"], 2, "run `cargo xtask crd diff` in it, or compare two files"),
    ] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-kubewright"));
        let output =
            program.args(["kubewright", "crd", "diff"]).args(files).current_dir(directory.path()).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(printed), "{text}");
    }
}

#[test]
fn a_directory_that_is_not_empty_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("a")).unwrap();
    fs::write(directory.path().join("a/mine.txt"), "").unwrap();
    let (success, output) =
        cargo_kubewright(&["--domain", "example", "--name", "a", "--path", "nowhere"], directory.path());
    assert!(!success);
    let missing = "nowhere is not a checkout of kubewright: it has no crates/kubewright/Cargo.toml";
    for part in ["a is not empty", missing, "invalid domain `example`"] {
        assert!(output.contains(part), "{output}");
    }
    assert_eq!(on_disk(&directory.path().join("a")).len(), 1);
}

#[test]
fn a_dry_run_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let checkout = checkout();
    let options = ["--domain", "example.com", "--name", "a", "--dry-run", "--path", checkout.to_str().unwrap()];
    let (success, output) = cargo_kubewright(&options, directory.path());
    assert!(success, "{output}");
    assert!(output.contains("create  a-types/src/lib.rs\n"), "{output}");
    assert!(on_disk(directory.path()).is_empty());
}

/// Returns the output of `init` with a source, which fails, or the dependencies of the project that it creates.
fn initialized(source: &[&str], directory: &Path) -> Result<toml::Table, String> {
    let (success, output) =
        cargo_kubewright(&[&["--domain", "example.com", "--name", "a"], source].concat(), directory);
    if !success {
        assert!(!directory.join("a").exists(), "{output}");
        return Err(output);
    }
    let manifest = fs::read_to_string(directory.join("a/Cargo.toml")).unwrap();
    Ok(toml::from_str::<toml::Table>(&manifest).unwrap()["workspace"]["dependencies"].as_table().unwrap().clone())
}

#[test]
fn a_project_has_exactly_one_source() {
    let directory = tempfile::tempdir().unwrap();
    let error = |source: &[&str]| initialized(source, directory.path()).unwrap_err();
    let none = error(&[]);
    assert!(none.contains("<--git <URL>|--path <DIR>|--registry-version <VERSION>>"), "{none}");
    let two = error(&["--path", ".", "--registry-version", "1.0.0"]);
    assert!(two.contains("cannot be used with"), "{two}");
    let commit = error(&["--path", ".", "--tag", "v1"]);
    assert!(commit.contains("cannot be used with"), "{commit}");
    let commits = error(&["--git", "https://a", "--tag", "v1", "--rev", "b"]);
    assert!(commits.contains("cannot be used with"), "{commits}");
    assert!(error(&["--git", "git@example.com:a/b.git"]).contains("expected a scheme"));
    assert!(error(&["--registry-version", "new"]).contains("invalid version `new`"));
}

#[test]
fn a_path_is_written_relative_to_the_project() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let manifest = root.join("tools/kubewright").join(Dependencies::manifest());
    fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    fs::write(manifest, "").unwrap();
    let absolute = root.join("tools/kubewright").to_str().unwrap().to_owned();
    for source in ["tools/kubewright", "tools/../tools/kubewright/", &absolute] {
        let dependencies = initialized(&["--path", source], root).unwrap();
        let path = dependencies["kubewright"]["path"].as_str().unwrap();
        assert_eq!(path, "../tools/kubewright/crates/kubewright", "{source}");
        fs::remove_dir_all(root.join("a")).unwrap();
    }
}

/// Runs git in a directory.
fn git(args: &[&str], directory: &Path) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]).args(args);
    let output = git.current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn a_repository_is_checked_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let repository = root.join("repository");
    fs::create_dir(&repository).unwrap();
    git(&["init", "--quiet", "--initial-branch=main"], &repository);
    git(&["commit", "--quiet", "--allow-empty", "--message", "Empty"], &repository);
    git(&["tag", "empty"], &repository);
    let manifest = repository.join(Dependencies::manifest());
    fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    fs::write(manifest, "").unwrap();
    git(&["add", "--all"], &repository);
    git(&["commit", "--quiet", "--message", "Crates"], &repository);
    let rev = git(&["rev-parse", "HEAD"], &repository);
    git(&["commit", "--quiet", "--allow-empty", "--message", "Next"], &repository);

    let url = format!("file://{}", repository.display());
    for commit in [&[][..], &["--branch", "main"], &["--rev", &rev]] {
        let dependencies = initialized(&[&["--git", &url], commit].concat(), root).unwrap();
        assert_eq!(dependencies["kubewright"]["git"].as_str(), Some(url.as_str()));
        fs::remove_dir_all(root.join("a")).unwrap();
    }
    let error = |source: &[&str]| initialized(source, root).unwrap_err();
    let missing = error(&["--git", &url, "--tag", "empty"]);
    assert!(missing.contains("is not a checkout of kubewright: it has no crates/kubewright/Cargo.toml"), "{missing}");
    for unknown in [&["--git", &url, "--tag", "v1"][..], &["--git", "file:///nowhere"]] {
        let error = error(unknown);
        assert!(error.contains("`git fetch` failed"), "{error}");
    }
}

fn certificates() -> Imported {
    let external = External {
        group: "cert-manager.io".to_owned(),
        version: "v1".to_owned(),
        module: "cert_manager_v1".to_owned(),
        kinds: vec!["Certificate".to_owned(), "Issuer".to_owned()],
    };
    Imported { external, source: "//! Certificates.\n".to_owned() }
}

#[test]
fn an_import_stays_part_of_the_project() {
    let imported = [certificates()];
    let tree = idempotent(&with_widget(), |tree| import(tree, &imported));
    assert_eq!(file(&tree, "my-operator-types/src/cert_manager_v1.rs"), "//! Certificates.\n");
    let project = file(&tree, "PROJECT");
    assert!(project.contains("domain: io\n  external: true\n  group: cert-manager\n  kind: Issuer\n"), "{project}");
    let tree = idempotent(&tree, |tree| create_api(tree, &resource("Gadget", "gadgets")));
    let groups = file(&tree, "my-operator-types/src/groups.rs");
    assert!(groups.contains("crate::apps_v1::API_GROUP,\n        crate::cert_manager_v1::API_GROUP,"), "{groups}");
    assert!(file(&tree, "my-operator-types/src/lib.rs").contains("pub mod apps_v1;\npub mod cert_manager_v1;\n"));
    let tree = executed(&tree, &delete_api(&tree, "apps", "Gadget", "v1").unwrap());
    assert_eq!(executed(&tree, &delete_import(&tree, "cert_manager_v1").unwrap()), with_widget());
}

#[test]
fn imports_that_cannot_be_added_are_problems() {
    let error = |tree: &Tree, imported: Imported| import(tree, &[imported]).unwrap_err().to_string();
    let Imported { external, source } = certificates();
    let internal = External { group: "apps.example.com".to_owned(), ..external.clone() };
    let internal = error(&with_widget(), Imported { external: internal, source: source.clone() });
    assert!(internal.contains("the group apps.example.com is one of this project"), "{internal}");
    let taken = External { module: "apps_v1".to_owned(), ..external.clone() };
    let taken = error(&with_widget(), Imported { external: taken, source });
    assert!(taken.contains("has the module `apps_v1`, which exists"), "{taken}");
    let tree = executed(&project(), &import(&project(), &[certificates()]).unwrap());
    let changed = error(&tree, Imported { external, source: "//! Other.\n".to_owned() });
    assert!(changed.contains("remove it first with `cargo xtask delete import cert_manager_v1`"), "{changed}");
    assert!(delete_import(&tree, "other_v1").unwrap_err().to_string().contains("its imports are cert_manager_v1"));
}

/// What the root of this repository has and a project does not, each with a reason.
const MORE: &[(&str, &str)] = &[
    (".ci", "the gate of this repository"),
    ("ARCHITECTURE.md", "the design of the toolchain"),
    ("CHANGELOG.md", "the releases of the toolchain"),
    ("CONTRIBUTING.md", "how the toolchain is developed"),
    ("Cargo.lock", "cargo writes it when it first runs in a project"),
    ("LICENSE", "the owner of a project chooses a license"),
    ("book.toml", "the book of the toolchain"),
    ("bundle", "`cargo xtask bundle` renders it in a project, too"),
    ("bundle.Dockerfile", "`cargo xtask bundle` renders it in a project, too"),
    ("charts", "`cargo xtask chart` renders it in a project, too"),
    ("clippy.toml", "the rules of the toolchain for its tests"),
    ("crates", "the toolchain"),
    ("deny.toml", "the licenses and sources of dependencies of the toolchain"),
    ("docs", "the book of the toolchain"),
    ("examples", "programs that need no project"),
    ("logger-agent", "the second program of the example"),
    ("logger-derive", "the derives of the toolchain, whose place is given"),
    ("tests", "the tests of the toolchain"),
    ("tools", "programs for the development of the toolchain"),
];
/// What a project has and the root of this repository does not, each with a reason.
const FEWER: &[(&str, &str)] = &[
    (".github", "the continuous integration of this repository is `.ci/run`"),
    ("PROJECT", "`create` does not manage the kinds of the example"),
];

#[test]
fn the_root_of_this_repository_is_laid_out_as_a_project() {
    let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let substituted = |name: String| match name.as_str() {
        "my-operator" => "logger-operator".to_owned(),
        name => name.replace("my-operator-", "logger-"),
    };
    let of_project: BTreeSet<String> = project().0.keys().map(|path| substituted(first(path))).collect();
    let of_root: BTreeSet<String> = git(&["ls-files", "--full-name"], &checkout()).lines().map(first).collect();
    let names = |listed: &[(&str, &str)]| listed.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(of_root.difference(&of_project).cloned().collect::<Vec<_>>(), names(MORE));
    assert_eq!(of_project.difference(&of_root).cloned().collect::<Vec<_>>(), names(FEWER));
}
