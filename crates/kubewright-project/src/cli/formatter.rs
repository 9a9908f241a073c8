//! The sources of a plan in the style of rustfmt: the length of names determines where lines are broken.

use std::{
    io::{self, Write},
    path::Path,
    process::{Command, Stdio},
};

use crate::scaffold::{Plan, Step};

/// The style of new projects: that of the `rustfmt.toml` that they get.
const STYLE: &str = "max_width=120,use_small_heuristics=Max";

/// A source that cannot be formatted.
#[derive(Debug, thiserror::Error)]
pub(super) enum FormatError {
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

/// Formats the sources that a plan creates for the user, with the settings of the project if it exists.
pub(super) fn format(root: &Path, mut plan: Plan) -> Result<Plan, FormatError> {
    for step in &mut plan.steps {
        if let Step::Create { path, contents } = step
            && path.ends_with(".rs")
        {
            *contents = rustfmt(root, path, contents)?;
        }
    }
    Ok(plan)
}

/// Formats a source, with the settings of the project if it exists.
pub(super) fn rustfmt(root: &Path, path: &str, source: &str) -> Result<String, FormatError> {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match root.join("Cargo.toml").exists() {
        true => command.current_dir(root),
        false => command.args(["--config", STYLE]),
    };
    let mut child = command.spawn()?;
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
