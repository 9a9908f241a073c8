//! Runs the page *Getting started* of the book: writes its files, runs its commands and compares their output.
//!
//! The page marks its fenced blocks: `toml,file=PATH` is the content of a file, `sh,run` are commands that must
//! succeed, and each line of `text,output` occurs in the output of the commands before it.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};

const PAGE: &str = include_str!("../../docs/getting-started.md");

/// A marked block of the page.
#[derive(Debug, PartialEq)]
enum Step<'a> {
    Write { path: &'a str, content: &'a str },
    Run { script: &'a str },
    Expect { lines: &'a str },
}

/// The marked blocks of a page, in order.
fn steps(page: &str) -> Vec<Step<'_>> {
    // Every second part between fences is a block. The page has no nested fences.
    page.split("```").skip(1).step_by(2).filter_map(step).collect()
}

fn step(block: &str) -> Option<Step<'_>> {
    let (info, content) = block.split_once('\n')?;
    let (_, mark) = info.split_once(',')?;
    match (mark, mark.strip_prefix("file=")) {
        (_, Some(path)) => Some(Step::Write { path, content }),
        ("run", _) => Some(Step::Run { script: content }),
        ("output", _) => Some(Step::Expect { lines: content }),
        _ => panic!("unknown mark of a block: {info}"),
    }
}

fn checkout() -> PathBuf {
    tests::workspace_root().canonicalize().unwrap()
}

/// An empty folder outside the checkout, whose cargo configuration must not apply. The name is the same in each run, so
/// that the build artifacts of the last one are replaced.
fn project() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    checkout().hash(&mut hasher);
    let project = std::env::temp_dir().join(format!("getting-started-{:x}", hasher.finish())).join("gadgets");
    drop(fs::remove_dir_all(&project));
    fs::create_dir_all(&project).unwrap();
    // With the locked versions of the workspace, cargo works offline and shares its compiled dependencies.
    fs::copy(checkout().join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    project
}

/// Runs commands as a user of a shell in the project does, and returns their output.
fn run(script: &str, project: &Path) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &format!("exec 2>&1\n{script}")]).current_dir(project);
    for name in std::env::vars_os().map(|(name, _)| name) {
        // Cargo sets these for the package of this test. Settings of profiles also apply to the project: it shares the
        // compiled dependencies of the workspace.
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && !text.starts_with("CARGO_PROFILE_") && name != "CARGO_HOME" {
            shell.env_remove(name);
        }
    }
    let debug = std::env::var("CARGO_PROFILE_DEV_DEBUG").unwrap_or_else(|_| "line-tables-only".to_owned());
    let output = shell
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", debug)
        .env("CARGO_PROFILE_DEV_BUILD_OVERRIDE_OPT_LEVEL", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{script}{text}");
    text
}

#[test]
fn every_step_works() {
    let project = project();
    let checkout = checkout().to_str().unwrap().to_owned();
    let mut output = String::new();
    for step in steps(PAGE) {
        match step {
            Step::Write { path, content } => {
                let path = project.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content.replace("../toolchain", &checkout)).unwrap();
            }
            Step::Run { script } => output = run(script, &project),
            Step::Expect { lines } => {
                for line in lines.lines() {
                    assert!(output.contains(line), "expected in the output: {line}\n{output}");
                }
            }
        }
    }
    fs::remove_dir_all(project.parent().unwrap()).unwrap();
}

#[test]
fn marked_blocks_are_steps() {
    let page =
        "a\n```toml,file=a/b.toml\nc = 1\n```\n```sh\nunmarked\n```\n```sh,run\nd\n```\n```text,output\ne\n```\n";
    let expected = [
        Step::Write { path: "a/b.toml", content: "c = 1\n" },
        Step::Run { script: "d\n" },
        Step::Expect { lines: "e\n" },
    ];
    assert_eq!(steps(page), expected);
}
