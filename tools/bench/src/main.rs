//! The command line of the benchmarks. Each alternates between our implementation and its peers and prints medians and
//! ratios.

mod apiserver;
mod cargo;
mod conversion;
mod deep_copy;
mod derive;
mod environment;
mod files;
mod generator;
mod go;
mod image;
mod kinds;
mod memory;
mod operator;
mod paths;
mod process;
mod program;
mod project;
mod runtime;
mod sharding;
mod stats;
mod table;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Benchmark this toolchain against its peers and print medians and ratios; run it on an idle machine.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", version)]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Copy one Logger with Go's generated DeepCopy, Clone, `deep_copy` and `deep_copy_into` on two allocators.
    DeepCopy(deep_copy::Options),
    /// Convert the objects of reviews with the conversion webhooks of controller-runtime and of our manager, without
    /// sockets.
    Conversion(conversion::Options),
    /// Generate code for many kinds with the Go tools and our generator, and measure the time from an edit to all
    /// files.
    Generator(generator::Options),
    /// Compile many kinds with serde and schemars only, with kube's derive and with ours; then the generated clients.
    Derive(derive::Options),
    /// Sync many objects from a real API server, list them and queue their keys with client-go, kube-runtime and our
    /// runtime.
    Runtime(runtime::Options),
    /// Sync many generated objects in one process, held decoded and as compact objects, and measure memory and reads.
    Memory(memory::Options),
    /// Run the same small operator on controller-runtime, kube-runtime and our manager, each on a new API server.
    Operator(operator::Options),
    /// Reconcile changes with one to five replicas that share the keys, on a real API server.
    Sharding(sharding::Options),
    /// Load the API server in memory, in process and on a socket, and a real etcd and kube-apiserver.
    Apiserver(apiserver::Options),
    /// Build the programs of the container images, run each in an empty root, and measure sizes and the memory of idle
    /// operators, without a container engine.
    Image(image::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(bench: Bench) -> Result<()> {
    paths::init()?;
    match bench {
        Bench::DeepCopy(options) => deep_copy::run(&options),
        Bench::Conversion(options) => conversion::run(&options),
        Bench::Generator(options) => generator::run(&options),
        Bench::Derive(options) => derive::run(&options),
        Bench::Runtime(options) => runtime::run(&options),
        Bench::Memory(options) => memory::run(&options),
        Bench::Operator(options) => operator::run(&options),
        Bench::Sharding(options) => sharding::run(&options),
        Bench::Apiserver(options) => apiserver::run(&options),
        Bench::Image(options) => image::run(&options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_definition_is_valid() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
