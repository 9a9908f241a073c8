//! `bench apiserver`: the API server in memory, in process and on a socket, compared with a real etcd and
//! kube-apiserver.

mod rows;
pub(crate) mod servers;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
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
}

/// Samples by server, measurement and figure.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<(Server, String, String), Samples>);

/// Runs the benchmark and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    build()?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        for server in Server::ALL {
            eprintln!("round {round} of {}: {}", options.rounds, server.title());
            let running = server.start()?;
            if let Some(taken) = running.start {
                figures.push(server, "start", "ms", taken.as_secs_f64() * 1e3);
            }
            let mut command = running.command(&paths::target_dir().join("release/apiserver-load"));
            command.args([options.objects, options.watchers].map(|number| number.to_string()));
            figures.read(server, &program::output(&mut command)?)?;
        }
    }
    environment::print();
    rows::print(&figures, options.objects, options.watchers);
    Ok(())
}

fn build() -> Result<()> {
    eprintln!("building the programs");
    // One build, so that shared dependencies are built once.
    let args = "build --release --package bench --package logger-apiserver --features logger-apiserver/serve \
                --bin apiserver-load --bin logger-apiserver";
    program::output(&mut cargo::command(paths::workspace_root(), args.split_whitespace())).map(drop)
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
