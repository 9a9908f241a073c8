//! The command line of the benches: each runs ours and the peer in turns, and prints medians and ratios.

mod apiserver;
mod cargo;
mod conditions;
mod copy;
mod defects;
mod derive;
mod files;
mod generator;
mod go;
mod kinds;
mod paths;
mod program;
mod project;
mod runtime;
mod stats;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures this toolchain beside its peers, and prints medians and ratios. Quiet machines give better figures.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", version)]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Copy one Logger: Go's generated DeepCopy, Clone, `deep_copy` and `deep_copy_into`, on two allocators
    DeepCopy(copy::Options),
    /// Generate for many kinds: the Go tools, our generator, and from an edit to all files written
    Generator(generator::Options),
    /// Compile many kinds: serde and schemars alone, kube's derive, ours; then the generated clients
    Derive(derive::Options),
    /// Show what client-go's work queue does where our rules promise better
    QueueDefects,
    /// Sync many objects from a real API server, list them, queue their keys: client-go, plain kube-runtime, ours
    Runtime(runtime::Options),
    /// Load the server in memory, in process and on a socket, beside a real etcd and kube-apiserver
    Apiserver(apiserver::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().bench {
        Bench::DeepCopy(options) => copy::run(&options),
        Bench::Generator(options) => generator::run(&options),
        Bench::Derive(options) => derive::run(&options),
        Bench::QueueDefects => defects::run(),
        Bench::Runtime(options) => runtime::run(&options),
        Bench::Apiserver(options) => apiserver::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
