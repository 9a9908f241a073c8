//! All that generating needs.

fn main() -> std::process::ExitCode {
    logger_codegen::cli(gadget_types::groups())
}
