//! Generates the client module.

fn main() -> std::process::ExitCode {
    logger_codegen::cli(&probe_operator::crd::api_groups())
}

/// Fails in `cargo test` if generated files are stale. Runs in the directory of this package, whose workspace is the
/// root.
#[test]
fn generated_files_are_current() {
    let args = logger_codegen::Args { check: true, ..logger_codegen::Args::default() };
    assert_eq!(logger_codegen::run(&probe_operator::crd::api_groups(), &args), std::process::ExitCode::SUCCESS);
}
