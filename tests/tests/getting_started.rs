//! Runs the page *Getting started* of the book: writes its files, runs its commands and compares their output.
//!
//! The page marks its fenced blocks: `toml,file=PATH` is the content of a file, `sh,run` are commands that must
//! succeed, and each line of `text,output` occurs in the output of the commands before it.

use std::fs;

use tests::user_project::{UserProject, checkout};

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

#[test]
fn every_step_works() {
    let project = UserProject::create("getting-started", "gadgets", env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir(&project.path).unwrap();
    project.lock();
    let checkout = checkout().to_str().unwrap().to_owned();
    let mut output = String::new();
    for step in steps(PAGE) {
        match step {
            Step::Write { path, content } => {
                let path = project.path.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content.replace("../toolchain", &checkout)).unwrap();
            }
            Step::Run { script } => output = project.run(script),
            Step::Expect { lines } => {
                for line in lines.lines() {
                    assert!(output.contains(line), "expected in the output: {line}\n{output}");
                }
            }
        }
    }
    fs::remove_dir_all(project.path.parent().unwrap()).unwrap();
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
