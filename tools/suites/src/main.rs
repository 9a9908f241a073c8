//! The command line of the suites: runs test suites of other projects on the in-memory API server and on the real one,
//! and compares the outcomes.

mod cargo;
mod client_go;
mod comparison;
mod components;
mod controller_runtime;
mod differences;
mod files;
mod ginkgo;
mod go;
mod go_test;
mod kube_rs;
mod libtest;
mod outcome;
mod paths;
mod program;
mod report;
mod sandbox;
mod server;
mod suite;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::{
    comparison::Comparison, differences::Differences, outcome::Outcomes, report::Report, server::Server, suite::Suite,
};

/// Run test suites of other projects on the in-memory API server and on a real one, and compare the outcomes.
///
/// Fails if a spec ends differently and is not in
/// `tools/suites/differences.yaml`, or is in it and ends the same. Needs Go, network access and the binaries of `cargo
/// xtask envtest build` and `cargo xtask envtest build components`.
#[derive(Parser)]
#[command(name = "cargo xtask suites", bin_name = "cargo xtask suites", version)]
struct Arguments {
    /// Suites to run; all by default.
    #[arg(value_enum)]
    suites: Vec<Suite>,
    /// Compare with the outcomes of the last run on the real server, if there was one, in place of a new run.
    #[arg(long)]
    cached: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the suites, prints the report, and returns whether all differences are listed.
fn run(arguments: &Arguments) -> Result<bool> {
    let differences = Differences::read(&Suite::NAMES)?;
    let real = Server::real()?;
    let ours = Server::ours(&real)?;
    let suites = if arguments.suites.is_empty() { Suite::value_variants() } else { &arguments.suites };
    let mut report = Report::new(&differences);
    for suite in suites {
        match run_both(*suite, &ours, &real, arguments.cached) {
            Ok((ours, real)) => report.add(&Comparison { suite: suite.name(), ours: &ours, real: &real }),
            // The other suites are compared.
            Err(error) => report.add_error(&error),
        }
    }
    print!("{report}");
    Ok(report.is_successful())
}

fn run_both(suite: Suite, ours: &Server, real: &Server, cached: bool) -> Result<(Outcomes, Outcomes)> {
    let saved = if cached { suite.saved(real)? } else { None };
    let on_real = saved.map_or_else(|| suite.run(real), Ok)?;
    Ok((suite.run(ours)?, on_real))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_definition_is_valid() {
        Arguments::command().debug_assert();
    }
}
