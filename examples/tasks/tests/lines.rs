//! The lines of both versions of each task are those of the page *Coming from kube-runtime*, and ours are fewer.

use std::ops::AddAssign;

const PAGE: &str = include_str!("../../../docs/coming-from/kube-runtime.md");

/// The files of a task.
struct Task {
    name: &'static str,
    ours: &'static str,
    plain: &'static str,
}

macro_rules! task {
    ($name:literal, $file:literal) => {
        Task {
            name: $name,
            ours: include_str!(concat!("../src/", $file)),
            plain: include_str!(concat!("../src/plain_kube/", $file)),
        }
    };
}

const TASKS: [Task; 5] = [
    task!("A kind with a status and conditions, and its controller", "kind.rs"),
    task!("Watch the Secrets and ConfigMaps of an object, and patch them", "references.rs"),
    task!("A condition, and an event when it changes", "events.rs"),
    task!("A finalizer for a bucket outside of the cluster", "finalizer.rs"),
    task!("A test that retries have growing delays", "back_off.rs"),
];

/// The numbers of lines of a file, without blank lines and comments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lines {
    code: usize,
    imports: usize,
}

impl AddAssign for Lines {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.imports += other.imports;
    }
}

/// Counts the lines of a file that rustfmt formats.
fn count(file: &str) -> Lines {
    let mut lines = Lines::default();
    let mut is_import = false;
    for line in file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        is_import |= line.starts_with("use ");
        if is_import {
            lines.imports += 1
        } else {
            lines.code += 1
        }
        is_import &= !line.ends_with(';');
    }
    lines
}

fn row(name: &str, ours: Lines, plain: Lines) -> String {
    format!("| {name} | {} | {} | {} | {} |", ours.code, ours.imports, plain.code, plain.imports)
}

#[test]
fn imports_comments_and_blank_lines_are_not_code() {
    let file = "//! Text.\n\nuse a::{\n    B,\n    c,\n};\nuse d;\n\n/// Text.\nfn e() {\n    // Text.\n    f();\n}\n";
    assert_eq!(count(file), Lines { code: 3, imports: 5 });
}

#[test]
fn each_task_is_shorter_than_with_plain_kube() {
    for task in TASKS {
        let (ours, plain) = (count(task.ours), count(task.plain));
        assert!(ours.code < plain.code, "{}: {ours:?}, with plain kube {plain:?}", task.name);
        assert!(ours.imports < plain.imports, "{}: {ours:?}, with plain kube {plain:?}", task.name);
    }
}

#[test]
fn the_page_has_the_numbers_of_lines() {
    let (mut ours, mut plain) = (Lines::default(), Lines::default());
    let mut rows = Vec::new();
    for task in TASKS {
        let counted = (count(task.ours), count(task.plain));
        ours += counted.0;
        plain += counted.1;
        rows.push(row(task.name, counted.0, counted.1));
    }
    rows.push(row("Together", ours, plain));
    let rows = rows.join("\n");
    assert!(PAGE.contains(&rows), "the page needs the rows\n{rows}");
}

#[test]
fn the_page_has_the_lines_of_the_declaration_of_a_kind() {
    let declaration = |file: &'static str, function| count(file.split(function).next().unwrap_or_default()).code;
    let (ours, plain) = (declaration(TASKS[0].ours, "pub fn "), declaration(TASKS[0].plain, "pub async fn "));
    let sentence = format!("has {ours} lines, and {plain} with `#[derive(CustomResource)]`");
    assert!(PAGE.contains(&sentence), "the page needs `{sentence}`");
}

/// The examples of the page are the files of the second task, from their first function on.
#[test]
fn the_page_has_the_code_of_a_task() {
    for file in [TASKS[1].ours, TASKS[1].plain] {
        let (_, code) = file.split_once("use crate::").or(file.split_once("use super::")).expect("the imports end");
        let (_, code) = code.split_once("\n\n").expect("code after the imports");
        assert!(PAGE.contains(&format!("```rust,ignore\n{code}```\n")), "the page needs the code\n{code}");
    }
}
