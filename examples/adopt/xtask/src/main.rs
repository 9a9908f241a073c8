//! All that generating needs.

fn main() -> std::process::ExitCode {
    logger_codegen::cli(&widget_types::api_groups())
}

/// With this, `cargo test` alone tells when generated files are stale.
#[test]
fn generated_files_are_as_generated() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..").into();
    let args = logger_codegen::Args { check: true, root: Some(root), ..Default::default() };
    assert_eq!(logger_codegen::run(&widget_types::api_groups(), &args), std::process::ExitCode::SUCCESS);
}
