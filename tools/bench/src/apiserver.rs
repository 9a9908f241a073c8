//! `bench apiserver`: the API server in memory, in process and on a socket, with and without TLS and RBAC, compared
//! with a real etcd and kube-apiserver.

mod rows;
pub(crate) mod servers;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use self::servers::Server;
use crate::{cargo, environment, paths, program, stats::Samples};

/// The options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The number of Loggers.
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// The number of watches that receive each change.
    #[arg(long, default_value_t = 100)]
    watchers: usize,
    /// The number of alternations between the servers.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Run the load once, with the server in its process and with debug information, under this command, and print no
    /// table: `perf record --call-graph dwarf`, or `valgrind --tool=callgrind` with fewer objects
    #[arg(long, value_name = "COMMAND")]
    profile: Option<String>,
}

impl Options {
    /// Returns the arguments of the load program.
    fn load(&self) -> [String; 2] {
        [self.objects, self.watchers].map(|number| number.to_string())
    }
}

/// Samples by server, measurement and figure.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<(Server, String, String), Samples>);

/// Runs the benchmark and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(command) = &options.profile {
        return profile(options, command);
    }
    build(&paths::target_dir(), &[])?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        for server in Server::ALL {
            eprintln!("round {round} of {}: {}", options.rounds, server.title());
            let running = server.start()?;
            if let Some(taken) = running.start {
                figures.push(server, "start", "ms", taken.as_secs_f64() * 1e3);
            }
            let mut command = running.command(&load_program(&paths::target_dir()));
            command.args(options.load());
            figures.read(server, &program::output(&mut command)?)?;
        }
    }
    environment::print();
    rows::print(&figures, options.objects, options.watchers);
    Ok(())
}

/// Builds the programs in a target directory, with these variables of the environment.
fn build(target: &Path, variables: &[(&str, &str)]) -> Result<()> {
    eprintln!("building the programs");
    // One build, so that shared dependencies are built once.
    let args = "build --release --package bench --package kubewright-apiserver --features kubewright-apiserver/program \
                --bin apiserver-load --bin kubewright-apiserver --target-dir";
    let mut command = cargo::command(paths::workspace_root(), args.split_whitespace());
    command.arg(target).envs(variables.iter().copied());
    program::output(&mut command).map(drop)
}

fn load_program(target: &Path) -> PathBuf {
    target.join("release/apiserver-load")
}

/// Runs the load under the command of a profiler, which writes its files to the current directory.
fn profile(options: &Options, command: &str) -> Result<()> {
    let mut words = command.split_whitespace();
    let profiler = words.next().context("`--profile` is empty; use `perf record --call-graph dwarf`")?;
    // Other builds keep their programs, which have no debug information.
    let target = paths::target_dir().join("profile");
    build(&target, &[("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")])?;
    let mut command = Server::InProcess.start()?.command(Path::new(profiler));
    command.args(words).arg(load_program(&target)).args(options.load());
    let status = command.status().with_context(|| format!("cannot run {profiler}"))?;
    ensure!(status.success(), "{profiler} failed ({status})");
    Ok(())
}

impl Figures {
    /// Parses the output of the load program, which has one measurement per line.
    fn read(&mut self, server: Server, printed: &str) -> Result<()> {
        for line in printed.lines() {
            let line: BTreeMap<String, Value> =
                serde_json::from_str(line).with_context(|| format!("{}: {line}", server.title()))?;
            let what = line.get("what").and_then(Value::as_str).unwrap_or_default();
            for (figure, value) in line.iter().filter_map(|(figure, value)| Some((figure, value.as_f64()?))) {
                self.push(server, what, figure, value);
            }
        }
        Ok(())
    }

    fn push(&mut self, server: Server, what: &str, figure: &str, value: f64) {
        self.0.entry((server, what.to_owned(), figure.to_owned())).or_default().push(value);
    }

    /// Returns the samples of one figure, which are empty if it was not measured.
    fn get(&self, server: Server, what: &str, figure: &str) -> Samples {
        self.0.get(&(server, what.to_owned(), figure.to_owned())).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_parsed_and_found_by_server() {
        let mut figures = Figures::default();
        figures.read(Server::Real, "{\"what\":\"create\",\"per_s\":3}\n{\"what\":\"create\",\"per_s\":5}\n").unwrap();
        assert_eq!(figures.get(Server::Real, "create", "per_s").median(), 4.0);
        assert!(figures.get(Server::InProcess, "create", "per_s").median().is_nan());
        assert!(figures.read(Server::Real, "no JSON").is_err());
    }
}
