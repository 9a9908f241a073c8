//! This repository's chores. Generating is `logger_codegen`'s; what needs a client or a server is started through cargo.

mod cargo;
mod suite;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use logger_codegen::{Args, Command, Docs, Place};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    #[command(flatten)]
    Api(Command),
    /// Run the quickstart: a controller on the generated client, on the embedded API server or `--kubeconfig FILE`.
    Quickstart(Passed),
    /// Build, start, stop or find a real control plane: build, up, down, path.
    Envtest(Passed),
    /// Derive what Kubernetes' own types say beyond their schemas from a real API server, or `--check` it.
    Overlay(Passed),
    /// Measure beside the Go tools and kube-rs: deep-copy, generator, derive, runtime.
    Bench(Passed),
    /// Run everything CI runs: format, clippy, docs, drift and all tests.
    Test(suite::Options),
}

/// Arguments that go on to another program, `--help` included.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
struct Passed {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

fn main() -> ExitCode {
    match Chore::parse() {
        Chore::Api(Command::Codegen(args)) => codegen(&args),
        Chore::Api(command) => command.run(logger_types::groups()),
        Chore::Quickstart(passed) => cargo::run_package("quickstart", &passed.args),
        Chore::Envtest(passed) => cargo::run_package("envtest", &passed.args),
        Chore::Overlay(passed) => cargo::run_package("overlay", &passed.args),
        Chore::Bench(passed) => cargo::run_package("bench", &passed.args),
        Chore::Test(options) => suite::run(&options),
    }
}

/// The reference API with its pages, and where no other tree is named also the apply configurations of Kubernetes' own types, the page of
/// Go tags and attributes, the fixture API that proves the generator general, and the matrix of kinds.
fn codegen(args: &Args) -> ExitCode {
    let reference = logger_codegen::run(logger_types::groups(), args);
    let is_of_one = args.root.is_some() || args.action.is_some() || args.schema_patch.is_some();
    if is_of_one || args.stdout || args.sizes || reference == ExitCode::from(2) {
        return reference;
    }
    let root = cargo::workspace_root();
    let place = Place { root: Some(root.clone()), ..Place::default() };
    let pages = Command::Docs(Docs { check: args.check, place }).run(logger_types::groups());
    let kubernetes = logger_codegen::run_kubernetes(&root, args);
    let attributes = logger_codegen::run_attributes(&root, args);
    let below = |directory: &str| Args { root: Some(root.join(directory)), ..args.clone() };
    let fixture = logger_codegen::run(&fixture_types::groups(), &below("tests/fixture"));
    let matrix = logger_codegen::run(matrix_types::groups(), &below("tests/matrix"));
    [pages, fixture, matrix, kubernetes, attributes]
        .into_iter()
        .find(|code| *code != ExitCode::SUCCESS)
        .unwrap_or(reference)
}
