//! The command line of the test control plane.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};
use envtest::State;

/// A real control plane for tests: etcd and kube-apiserver.
#[derive(Parser)]
#[command(name = "envtest", version)]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Build binaries, unless they exist.
    Build {
        /// What to build.
        #[arg(value_enum, default_value_t)]
        what: Binaries,
    },
    /// Print the directory of the binaries.
    Path {
        /// Print that of kube-controller-manager, kube-scheduler and kwok.
        #[arg(long)]
        components: bool,
    },
    /// Start a control plane in the background, and print KUBECONFIG and KUBEBUILDER_ASSETS for the shell to eval.
    Up,
    /// Stop the control plane that `up` started.
    Down,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Binaries {
    /// Build etcd, kube-apiserver and kubectl, and print KUBEBUILDER_ASSETS for the shell to eval.
    #[default]
    ControlPlane,
    /// Build kube-controller-manager, kube-scheduler and kwok, and print their directory.
    Components,
    /// Build promtool, and print its path.
    Promtool,
    /// Build helm, and print its path.
    Helm,
    /// Build operator-verify, and print its path.
    OperatorVerify,
    /// Download the definitions of other projects, and print their paths.
    Definitions,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Action) -> Result<()> {
    match command {
        Action::Build { what } => build(what),
        Action::Path { components: false } => path(),
        Action::Path { components: true } => components_path(),
        Action::Up => up(),
        Action::Down => envtest::down(),
    }
}

fn build(what: Binaries) -> Result<()> {
    match what {
        Binaries::ControlPlane => print(&[export("KUBEBUILDER_ASSETS", envtest::build()?.dir())]),
        Binaries::Components => print(&[envtest::build_components()?.dir().display().to_string()]),
        Binaries::Promtool => print(&[envtest::build_promtool()?.display().to_string()]),
        Binaries::Helm => print(&[envtest::build_helm()?.display().to_string()]),
        Binaries::OperatorVerify => print(&[envtest::build_operator_verify()?.display().to_string()]),
        Binaries::Definitions => {
            print(&envtest::build_definitions()?.iter().map(|path| path.display().to_string()).collect::<Vec<_>>())
        }
    }
}

fn path() -> Result<()> {
    let assets = envtest::find()?.with_context(|| format!("no control plane; {}", envtest::HOW_TO_GET))?;
    print(&[assets.dir().display().to_string()])
}

fn components_path() -> Result<()> {
    let assets =
        envtest::find_components()?.with_context(|| format!("no components; {}", envtest::HOW_TO_GET_COMPONENTS))?;
    print(&[assets.dir().display().to_string()])
}

fn up() -> Result<()> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot handle Ctrl-C")?;
    print(&exports(&envtest::up(&cancelled)?))
}

fn exports(state: &State) -> [String; 2] {
    [export("KUBECONFIG", state.kubeconfig()), export("KUBEBUILDER_ASSETS", state.assets())]
}

fn export(variable: &str, path: &Path) -> String {
    format!("export {variable}={}", quoted(&path.display().to_string()))
}

/// Quotes a word for the shell if necessary.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn print(lines: &[String]) -> Result<()> {
    let mut out = io::stdout().lock();
    lines.iter().try_for_each(|line| writeln!(out, "{line}")).context("cannot write to stdout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_the_shell_would_split_or_expand_are_quoted() {
        assert_eq!(quoted("/a-b/c_d.e"), "/a-b/c_d.e");
        assert_eq!(quoted("/a b"), "'/a b'");
        assert_eq!(quoted("/a'$b"), r"'/a'\''$b'");
    }

    #[test]
    fn the_command_line_definition_is_valid() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
