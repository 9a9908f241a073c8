//! Generates the client crate and the CRDs.

fn main() -> std::process::ExitCode {
    kubewright_codegen::cli(gadget_types::groups())
}

/// Fails in `cargo test` if generated files are stale. Runs in the directory of this package, whose workspace is the
/// root.
#[test]
fn generated_files_are_current() {
    let args = kubewright_codegen::Args { check: true, ..kubewright_codegen::Args::default() };
    assert_eq!(kubewright_codegen::run(gadget_types::groups(), &args), std::process::ExitCode::SUCCESS);
}
