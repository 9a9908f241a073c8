//! Commits have a title of one line, and a reason where the diff does not show it.

use std::process::Command;

use tidy::{assert_none, workspace_root};

/// The last commit before this check.
const BASE: &str = "cb2fdb98";
/// The width of a title in `git log --oneline` of 80 columns.
const MAX_TITLE: usize = 72;
/// The last commit before the check of other recorded files, and of commits that change only the changelog.
const LATER_BASE: &str = "80abc497";
/// The extensions of recorded output, whose changes need a reason.
const RECORDED: [&str; 2] = [".stderr", ".snap"];
/// Parts of the paths of other recorded output.
const RECORDED_IN: [&str; 2] = ["config/crd/bases/", "tests/golden/"];

/// Runs git; `None` if it fails, as for a base that a shallow clone lacks.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(workspace_root()).output().expect("git is installed");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn problem(title: &str, body: &str, files: &str) -> Option<String> {
    let is_recorded = |file: &str| RECORDED.iter().any(|extension| file.ends_with(extension));
    let is_draft = title.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word == "wip");
    if title.chars().count() > MAX_TITLE {
        Some(format!("`{title}`: the title has more than {MAX_TITLE} characters"))
    } else if is_draft || title.starts_with("fixup!") || title.starts_with("squash!") {
        Some(format!("`{title}`: the commit is a draft"))
    } else if body.trim().is_empty() && files.lines().any(is_recorded) {
        Some(format!("`{title}`: the body gives no reason for the change of recorded output"))
    } else {
        None
    }
}

/// Returns the problem of a commit after `LATER_BASE`.
fn later_problem(title: &str, body: &str, files: &str) -> Option<String> {
    let is_recorded = |file: &str| RECORDED_IN.iter().any(|folder| file.contains(folder));
    if body.trim().is_empty() && files.lines().any(is_recorded) {
        Some(format!("`{title}`: the body gives no reason for the change of recorded output"))
    } else if files.trim() == "CHANGELOG.md" {
        Some(format!("`{title}`: the entry of the changelog belongs to the commit that it is about"))
    } else {
        None
    }
}

/// Returns the problems of the commits after a base.
fn problems(base: &str, problem: fn(&str, &str, &str) -> Option<String>) -> Vec<String> {
    let commits = git(&["rev-list", "--no-merges", &format!("{base}..HEAD")]).unwrap_or_default();
    let show = |format: &str, commit: &str| git(&["show", "--no-patch", format, commit]).expect("a commit");
    let problem = |commit: &str| {
        let files = git(&["show", "--name-only", "--format=", commit]).expect("a commit");
        problem(show("--format=%s", commit).trim(), &show("--format=%b", commit), &files)
    };
    commits.lines().filter_map(problem).collect()
}

#[test]
fn commits_have_a_short_title_and_a_reason_for_recorded_output() {
    let problems = [problems(BASE, problem), problems(LATER_BASE, later_problem)].concat();
    assert_none("commits to reword", &problems);
}

#[test]
fn drafts_long_titles_and_silent_changes_are_problems() {
    assert_eq!(problem("Add a test", "", "a.rs\n"), None);
    assert_eq!(problem("Add a test", "It was reported.", "a.stderr\n"), None);
    for (title, files) in [("WIP: add a test", ""), ("fixup! Add a test", ""), (&"a".repeat(73), ""), ("Add", "a.snap")]
    {
        assert!(problem(title, "", files).is_some(), "{title}");
    }
    for files in ["config/crd/bases/a.yaml\n", "a.rs\nb/tests/golden/a.yaml\n", "CHANGELOG.md\n"] {
        assert!(later_problem("Add", "", files).is_some(), "{files}");
    }
    assert_eq!(later_problem("Add", "", "CHANGELOG.md\na.rs\n"), None);
    assert_eq!(later_problem("Add", "It was reported.", "config/crd/bases/a.yaml\n"), None);
}
