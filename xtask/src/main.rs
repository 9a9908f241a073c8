//! This repository's chores. What any project needs is in `logger_codegen`; the rest is started through cargo.

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Write the client crate and the CRD files, or check them.
    Codegen(logger_codegen::Args),
}

fn main() -> ExitCode {
    match Chore::parse() {
        Chore::Codegen(args) => logger_codegen::run(logger_types::groups(), &args),
    }
}
