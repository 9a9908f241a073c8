//! The sources of a plan in the style of rustfmt: the length of names determines where lines are broken.

use std::path::Path;

use kubewright_codegen::internal::{FormatError, Style, rustfmt};

use crate::scaffold::{Plan, Step};

/// The style of new projects: that of the `rustfmt.toml` that they get.
const STYLE: &str = "max_width=120,use_small_heuristics=Max";

/// Formats the sources that a plan creates for the user, with the settings of the project if it exists.
pub(super) fn format(root: &Path, mut plan: Plan) -> Result<Plan, FormatError> {
    let exists = root.join("Cargo.toml").exists();
    let style = if exists { Style::Project(root) } else { Style::Options(STYLE) };
    for step in &mut plan.steps {
        if let Step::Create { path, contents } = step
            && path.ends_with(".rs")
        {
            *contents = rustfmt(style, path, contents)?;
        }
    }
    Ok(plan)
}
