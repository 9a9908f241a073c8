//! Generates the client crate and the CRDs.

fn main() -> std::process::ExitCode {
    logger_codegen::cli(gadget_types::groups())
}

/// Fails in `cargo test` if generated files are stale. Runs in the directory of this package, whose workspace is the
/// root.
#[test]
fn generated_files_are_current() {
    let args = logger_codegen::Args { check: true, ..logger_codegen::Args::default() };
    assert_eq!(logger_codegen::run(gadget_types::groups(), &args), std::process::ExitCode::SUCCESS);
}
