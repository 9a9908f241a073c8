//! `cargo kubewright`: creates the project of an operator. The commands of a project are those of its `cargo xtask`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use kubewright_project::cli::init::Init;

#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    /// Create the project of an operator.
    #[command(name = "kubewright", subcommand, version)]
    Project(Command),
}

#[derive(Subcommand)]
enum Command {
    /// Create a workspace with types, client, operator and `xtask`.
    Init(Init),
}

fn main() -> ExitCode {
    // Cargo passes the name of the command as the first argument.
    let Cargo::Project(command) = Cargo::parse();
    match command {
        Command::Init(init) => init.run(),
    }
}
