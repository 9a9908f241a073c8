//! The commands of this repository. `kubewright_codegen` generates code; programs that need a client or a server are
//! run with cargo.

mod cargo;
mod suite;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;
use kubewright_codegen::{
    Args, Command, Docs, ProjectDirs,
    internal::{run_attributes, run_kubernetes},
};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Xtask {
    #[command(flatten)]
    Api(Command),
    #[command(flatten)]
    Project(kubewright_project::Command),
    /// Run the Logger scenario: agents record to files, a node is killed, and no record is lost. `--kubeconfig FILE
    /// --image IMAGE` runs it on a real cluster.
    Quickstart(Forwarded),
    /// Run the same program; `--serve` leaves the cluster running for kubectl.
    Demo(Forwarded),
    /// Build, start, stop or find a real control plane: build, up, down, path.
    Envtest(Forwarded),
    /// Derive metadata of Kubernetes types that their schemas lack from a real API server, or `--check` it.
    Overlay(Forwarded),
    /// Run benchmarks against the Go tools and kube-rs: deep-copy, conversion, generator, derive, apiserver, runtime,
    /// memory, operator, sharding, image.
    Bench(Forwarded),
    /// Run test suites of other projects on the in-memory API server and on a real one, and compare the outcomes:
    /// controller-runtime, client-go, kube-rs, components.
    Suites(Forwarded),
    /// Run all steps of CI: format, clippy, docs, drift and all tests.
    Test(suite::Options),
}

/// The program that runs the suites, and those that envtest starts as etcd and kube-apiserver.
const SUITES: [&str; 4] = ["suites", "envtest-etcd", "envtest-kube-apiserver", "kubewright-apiserver"];

/// Arguments that are forwarded to another program, including `--help`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
struct Forwarded {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

fn main() -> ExitCode {
    match Xtask::parse() {
        Xtask::Api(Command::Codegen(args)) => codegen(&args),
        Xtask::Api(command) => command.run(logger_types::groups()),
        Xtask::Project(command) => command.run(logger_types::groups()),
        Xtask::Quickstart(forwarded) | Xtask::Demo(forwarded) => {
            cargo::run_programs(&["demo", "logger-agent"], "", &forwarded.args)
        }
        Xtask::Envtest(forwarded) => cargo::run_package("envtest", &forwarded.args),
        Xtask::Overlay(forwarded) => cargo::run_package("overlay", &forwarded.args),
        Xtask::Bench(forwarded) => cargo::run_package("bench", &forwarded.args),
        Xtask::Suites(forwarded) => cargo::run_programs(&SUITES, suite::FEATURES, &forwarded.args),
        Xtask::Test(options) => suite::run(&options),
    }
}

/// Generates the reference API. Unless the options select a single output, also generates its reference pages, the
/// apply configurations of Kubernetes types, the page of Go tags and attributes, and the fixture API.
fn codegen(args: &Args) -> ExitCode {
    let root = cargo::workspace_root();
    let is_single = args.root.is_some() || args.action.is_some() || args.schema_patch.is_some();
    let reference_args = Args { root: args.root.clone().or_else(|| Some(root.clone())), ..args.clone() };
    let reference = kubewright_codegen::run(logger_types::groups(), &reference_args);
    if is_single || args.stdout || args.sizes || reference == ExitCode::from(2) {
        return reference;
    }
    let dirs = ProjectDirs { root: Some(root.clone()), ..ProjectDirs::default() };
    let pages = Command::Docs(Docs { check: args.check, dirs }).run(logger_types::groups());
    let kubernetes = run_kubernetes(&root, args.check);
    let attributes = run_attributes(&root, args.check);
    let fixture_args = Args { root: Some(root.join("tests/fixture")), ..args.clone() };
    let fixture = kubewright_codegen::run(&fixture_types::groups(), &fixture_args);
    [pages, fixture, kubernetes, attributes].into_iter().find(|code| *code != ExitCode::SUCCESS).unwrap_or(reference)
}
