//! The operator of the Logger API as a process.

use std::process::ExitCode;

fn main() -> ExitCode {
    logger_operator::operator().main()
}
