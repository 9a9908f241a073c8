//! Pages of the book whose files and commands are tested.
//!
//! A page marks its fenced blocks, after the language:
//!
//! | mark | content |
//! |---|---|
//! | `file=PATH` | the complete content of a file |
//! | `edit=PATH` | a change of a file: lines after `+` replace lines after `-`, between lines after a space |
//! | `run` | commands, which succeed |
//! | `cluster` | commands on a cluster, which succeed |
//! | `background` | a command on a cluster, which runs until it is interrupted |
//! | `interrupt` | the command in the background gets SIGINT, and succeeds |
//! | `output` | lines that occur in the output of the commands before it |
//!
//! `../toolchain` stands for this checkout. Blocks without a mark are ignored.

use std::{fs, path::PathBuf};

use crate::{
    process::{Process, Signal},
    user_project::{UserProject, checkout},
};

/// A marked block of a page.
#[derive(Debug, PartialEq)]
pub enum Step<'a> {
    /// Writes a file.
    Write {
        /// Its path in the project.
        path: &'a str,
        /// Its content.
        content: &'a str,
    },
    /// Changes a file.
    Edit {
        /// Its path in the project.
        path: &'a str,
        /// The lines of the change.
        change: &'a str,
    },
    /// Runs commands.
    Run {
        /// The commands.
        script: &'a str,
    },
    /// Runs commands on a cluster.
    Cluster {
        /// The commands.
        script: &'a str,
    },
    /// Starts a command on a cluster.
    Start {
        /// The command.
        command: &'a str,
    },
    /// Interrupts the started command.
    Interrupt,
    /// Compares the output of the last commands.
    Expect {
        /// The lines that occur in it.
        lines: &'a str,
    },
}

/// Returns the marked blocks of a page, in order.
///
/// # Panics
/// If a mark is unknown.
pub fn steps(page: &str) -> Vec<Step<'_>> {
    // Every second part between fences is a block. The pages have no nested fences.
    page.split("```").skip(1).step_by(2).filter_map(step).collect()
}

fn step(block: &str) -> Option<Step<'_>> {
    let (info, content) = block.split_once('\n')?;
    let (_, mark) = info.split_once(',')?;
    Some(match mark.split_once('=').unwrap_or((mark, "")) {
        ("file", path) => Step::Write { path, content },
        ("edit", path) => Step::Edit { path, change: content },
        ("run", "") => Step::Run { script: content },
        ("cluster", "") => Step::Cluster { script: content },
        ("background", "") => Step::Start { command: content },
        ("interrupt", "") => Step::Interrupt,
        ("output", "") => Step::Expect { lines: content },
        _ => panic!("unknown mark of a block: {info}"),
    })
}

/// The state between the steps of a page in a project. On drop, the command in the background is stopped.
/// Its log is printed if a step panics.
pub struct Walkthrough<'a> {
    project: &'a UserProject,
    kubeconfig: Option<PathBuf>,
    background_env: &'a [(&'a str, &'a str)],
    output: String,
    background: Option<Process>,
}

impl<'a> Walkthrough<'a> {
    /// Starts in the folder of the project, which exists.
    pub fn new(project: &'a UserProject) -> Self {
        Walkthrough { project, kubeconfig: None, background_env: &[], output: String::new(), background: None }
    }

    /// Sets the cluster of the commands that need one.
    #[must_use]
    pub fn cluster(mut self, kubeconfig: impl Into<PathBuf>) -> Self {
        self.kubeconfig = Some(kubeconfig.into());
        self
    }

    /// Sets environment variables of the command in the background.
    #[must_use]
    pub fn background_env(mut self, variables: &'a [(&'a str, &'a str)]) -> Self {
        self.background_env = variables;
        self
    }

    /// Performs all steps of a page.
    ///
    /// # Panics
    /// If a step fails, or if a command in the background is not interrupted at the end.
    pub fn follow(mut self, page: &str) {
        steps(page).iter().for_each(|step| self.perform(step));
        assert!(self.background.is_none(), "the page does not interrupt the command in the background");
    }

    fn perform(&mut self, step: &Step<'_>) {
        match *step {
            Step::Write { path, content } => self.write(path, &with_checkout(content)),
            Step::Edit { path, change } => {
                let before = fs::read_to_string(self.project.path.join(path));
                let before = before.unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
                self.write(path, &edited(&before, &with_checkout(change)));
            }
            Step::Run { script } => self.output = self.run(&with_checkout(script)),
            Step::Cluster { script } => self.output = self.run(&self.on_cluster(script)),
            Step::Start { command } => self.start(command),
            Step::Interrupt => self.interrupt(),
            Step::Expect { lines } => {
                for line in lines.lines() {
                    assert!(self.output.contains(line), "expected in the output: {line}\n{}", self.output);
                }
            }
        }
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.project.path.join(path);
        fs::create_dir_all(path.parent().expect("the project")).expect("the project is writable");
        fs::write(path, content).expect("the project is writable");
    }

    fn run(&self, script: &str) -> String {
        let exists = |name: &str| self.project.path.join(name).exists();
        if exists("Cargo.toml") && !exists("Cargo.lock") {
            self.project.lock();
        }
        self.project.run(script)
    }

    /// Returns commands with the kubeconfig in their environment.
    fn on_cluster(&self, script: &str) -> String {
        let kubeconfig = self.kubeconfig.as_ref().expect("the page needs a cluster");
        format!("export KUBECONFIG='{}'\n{script}", kubeconfig.display())
    }

    fn start(&mut self, command: &str) {
        assert!(self.background.is_none(), "one command in the background at a time");
        // The shell is replaced by the command, which gets the signal.
        let mut shell = self.project.shell(&self.on_cluster(&format!("exec {command}")));
        shell.envs(self.background_env.iter().copied());
        let process = Process::start(command.trim(), &mut shell, self.log()).expect("there is a shell");
        self.background = Some(process.with_children());
    }

    fn interrupt(&mut self) {
        let process = self.background.take().expect("a command in the background");
        process.signal(Signal::INT).expect("the command in the background runs");
        let exit = process.wait().expect("the command in the background ends");
        assert_eq!(exit.code, Some(0), "{}", exit.errors);
    }

    /// Returns the path of the standard error of the command in the background.
    fn log(&self) -> PathBuf {
        self.project.path.with_file_name("background.log")
    }
}

impl Drop for Walkthrough<'_> {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Ok(log) = fs::read_to_string(self.log())
        {
            eprintln!("the command in the background:\n{log}");
        }
    }
}

fn with_checkout(text: &str) -> String {
    text.replace("../toolchain", checkout().to_str().expect("the path of the checkout is UTF-8"))
}

/// Returns a file after a change. The lines that the change replaces occur once in it.
fn edited(file: &str, change: &str) -> String {
    let side = |mark: char| -> String {
        let lines = change.lines().filter_map(|line| line.strip_prefix([' ', mark]));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let (before, after) = (side('-'), side('+'));
    assert_eq!(file.matches(&before).count(), 1, "the lines before the change:\n{before}\nin:\n{file}");
    file.replacen(&before, &after, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_blocks_are_steps() {
        let page = "a\n```toml,file=a/b.toml\nc = 1\n```\n```sh\nunmarked\n```\n```sh,run\nd\n```\n```text,output\n\
                    e\n```\n```diff,edit=f\n-g\n```\n```sh,cluster\nh\n```\n```sh,background\ni\n```\n\
                    ```text,interrupt\n^C\n```\n";
        let expected = [
            Step::Write { path: "a/b.toml", content: "c = 1\n" },
            Step::Run { script: "d\n" },
            Step::Expect { lines: "e\n" },
            Step::Edit { path: "f", change: "-g\n" },
            Step::Cluster { script: "h\n" },
            Step::Start { command: "i\n" },
            Step::Interrupt,
        ];
        assert_eq!(steps(page), expected);
    }

    #[test]
    fn a_change_replaces_lines_between_others() {
        assert_eq!(edited("a\nb\nc\n", " a\n-b\n+d\n+e\n"), "a\nd\ne\nc\n");
        assert_eq!(edited("a\nb\n", " a\n+c\n"), "a\nc\nb\n");
    }
}
