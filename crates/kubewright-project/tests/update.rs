//! The update of a project to the current layout, with git in a temporary directory.

#![expect(clippy::unwrap_used, clippy::panic, reason = "allowed in tests, and test helpers are part of them")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, ExitCode},
};

use kubewright_project::{
    Workspace,
    cli::{scaffold::Changes, update::Update, writer::write},
    scaffold::{
        Dependencies, Layout, Merged, Model, Plan, Problems, Resource, ResourceWebhooks, Step, Tools, Tree, Versions,
        create_api, init, update,
    },
};
use tempfile::TempDir;

const README: &str = "README.md";
const CI: &str = ".github/workflows/ci.yaml";

/// Tools for projects whose files the user did not change: the sources of their templates are formatted, and nothing is
/// merged.
struct Unmerged;

impl Tools for Unmerged {
    fn format(&self, _: &str, source: &str) -> Result<String, Problems> {
        Ok(source.to_owned())
    }

    fn merge(&self, versions: &Versions<'_>) -> Result<Merged, Problems> {
        panic!("{versions:?}")
    }
}

fn executed(tree: &Tree, plan: &Plan) -> Tree {
    let mut files = tree.0.clone();
    for step in plan.steps.iter().cloned() {
        match step {
            Step::Create { path, contents }
            | Step::Replace { path, contents }
            | Step::Edit { path, contents, .. }
            | Step::Merge { path, contents, .. } => drop(files.insert(path, contents)),
            Step::Remove { path } => drop(files.remove(&path).unwrap()),
        }
    }
    Tree(files)
}

fn widget() -> Resource {
    Resource {
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        kind: "Widget".to_owned(),
        plural: "widgets".to_owned(),
        namespaced: true,
        controller: true,
        webhooks: ResourceWebhooks::default(),
    }
}

/// Returns a project with one kind, in a layout.
fn project(layout: Layout, dependencies: &Dependencies) -> Tree {
    let model = Model {
        layout,
        name: "my-operator".to_owned(),
        domain: "example.com".to_owned(),
        namespaced: false,
        resources: Vec::new(),
    };
    let empty = executed(&Tree::default(), &init(&model, dependencies).unwrap());
    executed(&empty, &create_api(&empty, &widget()).unwrap())
}

fn version() -> Dependencies {
    Dependencies::Version("1.0.0".to_owned())
}

#[test]
fn an_unchanged_project_becomes_as_a_new_one() {
    for dependencies in [version(), Dependencies::Path("/src/toolchain".to_owned())] {
        for layout in Layout::all() {
            let former = project(layout, &dependencies);
            let updated = executed(&former, &update(&former, &Unmerged).unwrap());
            assert_eq!(updated, project(Layout::CURRENT, &dependencies), "{layout}");
            assert_eq!(update(&updated, &Unmerged).unwrap(), Plan::default());
        }
    }
}

#[test]
fn line_ends_of_windows_are_no_changes() {
    let mut former = project(Layout::FIRST, &version());
    for contents in former.0.values_mut() {
        *contents = contents.replace('\n', "\r\n");
    }
    let plan = update(&former, &Unmerged).unwrap();
    assert_eq!(executed(&former, &plan).0[README], project(Layout::CURRENT, &version()).0[README]);
}

#[test]
fn the_plan_lists_what_the_layout_changes() {
    let plan = update(&project(Layout::FIRST, &version()), &Unmerged).unwrap().to_string();
    for line in [
        "replace .gitignore\n",
        "replace .github/workflows/ci.yaml\n",
        "replace PROJECT\n",
        "replace my-operator/src/lib.rs\n",
        "create  my-operator/src/webhooks.rs\n",
    ] {
        assert!(plan.contains(line), "{plan}");
    }
    assert!(!plan.contains("src/controllers"), "{plan}");
}

#[test]
fn other_commands_keep_the_layout() {
    let tree = project(Layout::FIRST, &version());
    let gadget = Resource { kind: "Gadget".to_owned(), plural: "gadgets".to_owned(), ..widget() };
    let tree = executed(&tree, &create_api(&tree, &gadget).unwrap());
    assert!(tree.0["PROJECT"].contains("cargo-kubewright/v1"), "{}", tree.0["PROJECT"]);
    assert_eq!(tree.0[README], project(Layout::FIRST, &version()).0[README]);
}

#[test]
fn files_without_the_mark_are_problems() {
    let mut tree = project(Layout::FIRST, &version());
    let project = tree.0["PROJECT"].lines().skip(1).collect::<Vec<_>>().join("\n");
    tree.0.insert("PROJECT".to_owned(), project);
    let problems = update(&tree, &Unmerged).unwrap_err().to_string();
    assert!(problems.contains("PROJECT was not written by this command"), "{problems}");
}

/// A project of the first layout on the disk, with all files committed.
struct Repository(TempDir);

impl Repository {
    /// Commits a project with changes of the user: new contents of a file, or none to delete it.
    fn new(changes: &[(&str, Option<&str>)]) -> Self {
        let repository = Repository(tempfile::tempdir().unwrap());
        let files = project(Layout::FIRST, &version()).0;
        let steps = files.into_iter().map(|(path, contents)| Step::Create { path, contents }).collect();
        write(repository.root(), &Plan { steps, ..Plan::default() }).unwrap();
        for (path, contents) in changes {
            match contents {
                Some(contents) => fs::write(repository.root().join(path), contents).unwrap(),
                None => fs::remove_file(repository.root().join(path)).unwrap(),
            }
        }
        repository.git(&["init", "--quiet"]);
        repository.commit();
        repository
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message", "one"]);
    }

    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Tester", "-c", "user.email=tester@example.com", "-c", "commit.gpgsign=false"]);
        assert!(git.args(args).current_dir(self.root()).status().unwrap().success(), "git {args:?}");
    }

    fn workspace(&self) -> Workspace<'_> {
        Workspace::in_directory(self.root(), &[])
    }

    fn file(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Returns all files of the project.
    fn files(&self) -> BTreeMap<String, String> {
        let paths = project(Layout::CURRENT, &version()).0.into_keys();
        paths.filter(|path| self.root().join(path).exists()).map(|path| (path.clone(), self.file(&path))).collect()
    }
}

fn command(dry_run: bool, allow_dirty: bool) -> Update {
    Update { changes: Changes { dry_run, allow_dirty } }
}

/// Returns the readme of the first layout.
fn readme() -> String {
    project(Layout::FIRST, &version()).0[README].clone()
}

#[test]
fn changes_of_the_user_are_kept() {
    let edited = readme().replace("# my-operator", "# My operator");
    let repository = Repository::new(&[(README, Some(&edited))]);
    assert_eq!(command(false, false).run(&repository.workspace()), ExitCode::SUCCESS);
    let mut expected = project(Layout::CURRENT, &version()).0;
    let readme = expected[README].replace("# my-operator", "# My operator");
    expected.insert(README.to_owned(), readme);
    assert_eq!(repository.files(), expected);
    assert_eq!(command(false, false).plan(&repository.workspace()).unwrap(), Plan::default());
}

#[test]
fn a_conflict_is_marked_and_named() {
    let edited = readme().replace("kubectl apply --server-side -k config/default", "make deploy");
    let repository = Repository::new(&[(README, Some(&edited))]);
    let plan = command(false, false).plan(&repository.workspace()).unwrap();
    assert!(plan.to_string().contains("merge   README.md: conflicts: 1\n"), "{plan}");
    assert_eq!(plan.notes, ["README.md has conflicts; edit the lines between `<<<<<<<` and `>>>>>>>`"]);
    assert_eq!(command(false, false).run(&repository.workspace()), ExitCode::from(1));
    let former = "kubectl apply --server-side -k config/default";
    let markers = format!(
        "<<<<<<< yours\nmake deploy\n||||||| layout v1\n{former}\n=======\ncargo xtask deploy\n>>>>>>> layout {}\n",
        Layout::CURRENT
    );
    assert!(repository.file(README).contains(&markers), "{}", repository.file(README));
    assert!(repository.file("PROJECT").contains(&format!("cargo-kubewright/{}", Layout::CURRENT)));
}

#[test]
fn a_deleted_file_stays_deleted() {
    let repository = Repository::new(&[(CI, None)]);
    let plan = command(false, false).plan(&repository.workspace()).unwrap();
    assert!(plan.notes[0].starts_with(&format!("{CI} does not exist; ")), "{plan}");
    assert_eq!(command(false, false).run(&repository.workspace()), ExitCode::SUCCESS);
    assert!(!repository.root().join(CI).exists());
}

#[test]
fn a_dry_run_writes_nothing() {
    let repository = Repository::new(&[]);
    let before = repository.files();
    assert_eq!(command(true, false).run(&repository.workspace()), ExitCode::SUCCESS);
    assert_eq!(repository.files(), before);
}

#[test]
fn files_that_git_cannot_restore_are_problems() {
    let repository = Repository::new(&[]);
    // The update does not change this file.
    fs::write(repository.root().join("rustfmt.toml"), "").unwrap();
    assert!(command(false, false).plan(&repository.workspace()).is_ok());

    fs::write(repository.root().join(".gitignore"), "/target\n/mine\n").unwrap();
    let error = command(false, false).plan(&repository.workspace()).unwrap_err().to_string();
    assert!(error.contains("- .gitignore has changes that are not in git") && error.lines().count() == 2, "{error}");
    assert_eq!(command(false, false).run(&repository.workspace()), ExitCode::from(2));
    assert_eq!(repository.file(".gitignore"), "/target\n/mine\n");
    assert!(command(false, true).plan(&repository.workspace()).is_ok());
}

#[test]
fn a_project_outside_of_a_repository_is_a_problem() {
    let repository = Repository::new(&[]);
    fs::remove_dir_all(repository.root().join(".git")).unwrap();
    let error = command(false, false).plan(&repository.workspace()).unwrap_err().to_string();
    assert!(error.contains("`git status` failed") && error.contains("`--allow-dirty`"), "{error}");
    assert_eq!(command(false, true).run(&repository.workspace()), ExitCode::SUCCESS);
}

#[test]
fn unknown_layouts_are_problems() {
    let repository = Repository::new(&[]);
    let project = repository.file("PROJECT").replace("cargo-kubewright/v1", "cargo-kubewright/v999");
    fs::write(repository.root().join("PROJECT"), project).unwrap();
    let error = command(false, true).plan(&repository.workspace()).unwrap_err().to_string();
    assert!(error.contains("upgrade `kubewright-project`"), "{error}");
}
