//! Generation in memory: groups in, files out.

use logger_core::meta::ApiGroup;

use crate::{
    api::Api,
    crd,
    diagnostic::{Diagnostic, Diagnostics},
    docs, emit,
    layout::Layout,
    output::File,
    policy,
};

/// The result of a generation.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// All files, sorted by path.
    pub files: Vec<File>,
    /// Findings that do not prevent generation, such as what the API server would warn about.
    pub warnings: Vec<Diagnostic>,
}

/// Generates the client crate, the CRD files and the admission policies from the groups of a types crate. Does not access
/// the disk.
///
/// # Errors
/// A kind is invalid: every error names its Rust item.
pub fn generate(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    generate_with_warnings(groups, layout).map(|generated| generated.files)
}

/// Generates the same files as [`generate`], and returns the warnings.
///
/// # Errors
/// A kind is invalid: every error names its Rust item.
pub fn generate_with_warnings(groups: &[ApiGroup], layout: &Layout) -> Result<Generated, Diagnostics> {
    let api = Api::new(groups, layout)?;
    let definitions = crd::definitions(groups, layout)?;
    let crds = crd::files_of(&definitions, layout)?;
    let mut files = emit::client(&api, &definitions, layout)?;
    let policies = policy::files(groups, &definitions, layout)?;
    files.extend(crds.files);
    files.extend(policies.files);
    files.sort();
    let warnings = [crds.warnings, policies.warnings].concat();
    Ok(Generated { files, warnings })
}

/// Generates the API reference: a Markdown page for each version of each group that has definitions. Does not access the
/// disk.
///
/// # Errors
/// A definition is invalid: every error names its Rust item.
pub fn reference(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    docs::pages(groups, layout)
}
