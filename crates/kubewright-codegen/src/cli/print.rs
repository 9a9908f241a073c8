//! Output of the commands.

use std::{
    env, fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use annotate_snippets::{Level, Renderer};
use anyhow::Result;

use super::manifest;
use crate::{
    diagnostic::{Diagnostic, Diagnostics},
    snippet::Drawing,
};

/// Prints a line to standard output. A closed pipe is ignored: the exit code is still returned.
pub(super) fn print(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// Prints warnings with their sources to standard error.
pub(super) fn warn(warnings: &[Diagnostic]) {
    draw(&Level::WARNING, warnings);
}

/// Prints diagnostics with their sources, whose paths are relative to the workspace of the program: that of the package
/// that cargo runs, or else of the current directory.
fn draw(level: &Level<'_>, diagnostics: &[Diagnostic]) {
    let is_styled = io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none();
    let renderer = if is_styled { Renderer::styled() } else { Renderer::plain() };
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).or_else(|| env::current_dir().ok());
    let root = package.and_then(|directory| manifest::workspace_root(&directory).ok());
    for text in drawn(level, diagnostics, &renderer, &root.unwrap_or_default()) {
        eprintln!("{text}");
    }
}

/// Returns diagnostics with their sources below a directory.
pub fn drawn(level: &Level<'_>, diagnostics: &[Diagnostic], renderer: &Renderer, root: &Path) -> Vec<String> {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let mut drawing = Drawing::new(renderer, &read);
    diagnostics.iter().map(|diagnostic| drawing.draw(level, diagnostic)).collect()
}

/// Prints the error, if there is one, and returns the exit code: 2 for an error. Diagnostics are printed with their
/// sources.
pub(super) fn exit_code(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        match error.downcast_ref::<Diagnostics>() {
            Some(diagnostics) => {
                draw(&Level::ERROR, &diagnostics.0);
                let count = diagnostics.0.len();
                eprintln!(
                    "error: nothing was written because of {}",
                    if count == 1 { "1 error".to_owned() } else { format!("{count} errors") }
                );
            }
            None => eprintln!("error: {error:#}"),
        }
        ExitCode::from(2)
    })
}
