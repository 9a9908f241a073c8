//! Generates the client crate and the CRDs.

fn main() -> std::process::ExitCode {
    kubewright_codegen::cli(&widget_types::api_groups())
}

/// Fails in `cargo test` if generated files are stale. Runs in the directory of this package, whose workspace is the
/// root.
#[test]
fn generated_files_are_current() {
    let args = kubewright_codegen::Args { check: true, ..kubewright_codegen::Args::default() };
    assert_eq!(kubewright_codegen::run(&widget_types::api_groups(), &args), std::process::ExitCode::SUCCESS);
}
