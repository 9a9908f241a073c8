//! `bench apiserver`: the server in memory, in process and on a socket, beside a real etcd and kube-apiserver.

mod rows;
mod servers;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::stats::Samples;
use crate::{cargo, conditions, paths, program};
use servers::Server;

/// How much.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many Loggers there are
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// How many watches see each change
    #[arg(long, default_value_t = 100)]
    watchers: usize,
    /// How often the servers take turns
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// What was measured: by server, measurement and figure.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<(Server, String, String), Samples>);

/// Measures, and prints the table.
pub(crate) fn run(options: &Options) -> Result<()> {
    build()?;
    let mut figures = Figures::default();
    for round in 1..=options.rounds {
        for server in Server::ALL {
            eprintln!("round {round} of {}: {}", options.rounds, server.title());
            let running = server.start()?;
            if let Some(taken) = running.start {
                figures.put(server, "start", "ms", taken.as_secs_f64() * 1e3);
            }
            let mut command = running.command(&paths::target_dir().join("release/apiserver-load"));
            command.args([options.objects, options.watchers].map(|number| number.to_string()));
            figures.read(server, &program::output(&mut command)?)?;
        }
    }
    conditions::print();
    rows::print(&figures, options.objects, options.watchers);
    Ok(())
}

fn build() -> Result<()> {
    eprintln!("building the programs");
    // Together, so that what both are made of is built once.
    let args = "build --release --package bench --package logger-apiserver --features logger-apiserver/serve \
                --bin apiserver-load --bin logger-apiserver";
    program::output(&mut cargo::command(paths::workspace_root(), args.split_whitespace())).map(drop)
}

impl Figures {
    /// Adds what the load printed: a measurement in each line.
    fn read(&mut self, server: Server, printed: &str) -> Result<()> {
        for line in printed.lines() {
            let line: BTreeMap<String, Value> =
                serde_json::from_str(line).with_context(|| format!("{}: {line}", server.title()))?;
            let what = line.get("what").and_then(Value::as_str).unwrap_or_default();
            for (figure, value) in line.iter().filter_map(|(figure, value)| Some((figure, value.as_f64()?))) {
                self.put(server, what, figure, value);
            }
        }
        Ok(())
    }

    fn put(&mut self, server: Server, what: &str, figure: &str, value: f64) {
        self.0.entry((server, what.to_owned(), figure.to_owned())).or_default().push(value);
    }

    /// The samples of one figure; none if it was not measured.
    fn of(&self, server: Server, what: &str, figure: &str) -> Samples {
        self.0.get(&(server, what.to_owned(), figure.to_owned())).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_lines_and_found_by_server() {
        let mut figures = Figures::default();
        figures.read(Server::Real, "{\"what\":\"create\",\"per_s\":3}\n{\"what\":\"create\",\"per_s\":5}\n").unwrap();
        assert_eq!(figures.of(Server::Real, "create", "per_s").median(), 4.0);
        assert!(figures.of(Server::InProcess, "create", "per_s").median().is_nan());
        assert!(figures.read(Server::Real, "no JSON").is_err());
    }
}
