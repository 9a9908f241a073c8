//! `cargo kubewright`: creates the project of an operator, and validates, compares and imports definitions without a
//! project. The commands of a project are those of its `cargo xtask`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use kubewright_codegen::Crd;
use kubewright_project::cli::init::Init;

#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    /// Create the project of an operator, or use definitions without a project.
    #[command(name = "kubewright", subcommand, version)]
    Project(Command),
}

#[derive(Subcommand)]
enum Command {
    /// Create a workspace with types, client, operator and `xtask`.
    Init(Init),
    /// Validate, compare or import CustomResourceDefinitions.
    #[command(subcommand)]
    Crd(Crd),
}

fn main() -> ExitCode {
    // Cargo passes the name of the command as the first argument.
    let Cargo::Project(command) = Cargo::parse();
    match command {
        Command::Init(init) => init.run(),
        Command::Crd(crd) => kubewright_codegen::Command::Crd(crd).run(&[]),
    }
}
