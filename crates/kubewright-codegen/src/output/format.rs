//! Rust sources in the style of rustfmt, with the options of their project or with given ones.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use kubewright_names::manifest;

/// The edition without a manifest that has one.
const EDITION: &str = "2024";

/// The settings of rustfmt.
#[derive(Clone, Copy, Debug)]
pub enum Style<'a> {
    /// Those of the project that contains a directory, as `cargo fmt` uses them: its `rustfmt.toml`, and the edition of
    /// its manifest. The directory need not exist.
    Project(&'a Path),
    /// Options of `rustfmt --config`.
    Options(&'a str),
}

/// A source that cannot be formatted.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// rustfmt cannot be run.
    #[error("cannot run rustfmt: {0}; install it with `rustup component add rustfmt`")]
    Run(#[from] io::Error),
    /// rustfmt failed.
    #[error("rustfmt rejects {path}: {message}")]
    Failed {
        /// The path of the source.
        path: String,
        /// What rustfmt printed.
        message: String,
    },
}

/// Formats a source. The path is that of messages.
///
/// # Errors
/// rustfmt is not installed, or rejects the source.
pub fn rustfmt(style: Style<'_>, path: &str, source: &str) -> Result<String, FormatError> {
    let mut child = command(style)?.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // rustfmt reads its input to the end before it prints, so that neither pipe can block.
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(source.as_bytes()));
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(FormatError::Failed { path: path.to_owned(), message });
    }
    written?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the command that formats its standard input.
fn command(style: Style<'_>) -> io::Result<Command> {
    let mut command = Command::new("rustfmt");
    match style {
        Style::Options(options) => command.args(["--edition", EDITION, "--config", options]),
        Style::Project(directory) => {
            let directory = std::path::absolute(directory)?;
            // rustfmt searches its settings from the working directory upwards.
            if let Some(existing) = directory.ancestors().find(|parent| parent.is_dir()) {
                command.current_dir(existing);
            }
            let edition = manifest_of(&directory).and_then(|manifest| manifest::edition(&manifest));
            command.args(["--edition", edition.as_deref().unwrap_or(EDITION)])
        }
    };
    Ok(command)
}

/// Returns the manifest of the package or workspace that contains a directory.
pub(crate) fn manifest_of(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|parent| parent.join("Cargo.toml")).find(|manifest| manifest.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// In the style of 2021, `ByteString` follows the modules.
    const SOURCE: &str = "use a::{ByteString, api};\nconst NUMBERS: [&str; 2] = [\"one\", \"two\"];\n";

    #[test]
    fn the_settings_of_the_project_apply() {
        let project = tempfile::tempdir().unwrap();
        let format = || rustfmt(Style::Project(&project.path().join("src/new")), "a.rs", SOURCE).unwrap();
        assert_eq!(format(), SOURCE, "the default settings");
        fs::write(project.path().join("Cargo.toml"), "[workspace.package]\nedition = \"2021\"\n").unwrap();
        assert!(format().starts_with("use a::{api, ByteString};\n"), "{}", format());
        fs::write(project.path().join("rustfmt.toml"), "array_width = 10\n").unwrap();
        assert!(format().ends_with("= [\n    \"one\", \"two\",\n];\n"), "{}", format());
    }

    #[test]
    fn options_apply_without_a_project() {
        let formatted = rustfmt(Style::Options("tab_spaces=2"), "a.rs", "fn a() {\n    b();\n}\n").unwrap();
        assert_eq!(formatted, "fn a() {\n  b();\n}\n");
    }

    #[test]
    fn errors_name_the_source() {
        let error = rustfmt(Style::Options("tab_spaces=2"), "a.rs", "fn a(").unwrap_err().to_string();
        assert!(error.starts_with("rustfmt rejects a.rs: "), "{error}");
    }
}
