//! Commits have a title of one line, and a reason where the diff does not show it.

use std::process::Command;

use tidy::{assert_none, workspace_root};

/// The last commit before this check.
const BASE: &str = "cb2fdb98";
/// The width of a title in `git log --oneline` of 80 columns.
const MAX_TITLE: usize = 72;
/// The extensions of recorded output, whose changes need a reason.
const RECORDED: [&str; 2] = [".stderr", ".snap"];

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

#[test]
fn commits_have_a_short_title_and_a_reason_for_recorded_output() {
    let range = format!("{BASE}..HEAD");
    let Some(commits) = git(&["rev-list", "--no-merges", &range]) else { return };
    let show = |format: &str, commit: &str| git(&["show", "--no-patch", format, commit]).expect("a commit");
    let problems: Vec<String> = commits
        .lines()
        .filter_map(|commit| {
            let files = git(&["show", "--name-only", "--format=", commit]).expect("a commit");
            problem(show("--format=%s", commit).trim(), &show("--format=%b", commit), &files)
        })
        .collect();
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
}
