//! Generation in memory: groups in, files out.

use kubewright_core::meta::ApiGroup;

use crate::{
    api::Api,
    crd,
    diagnostic::{Diagnostic, Diagnostics},
    docs, emit,
    layout::Layout,
    output::File,
    parallel, policy,
};

/// The result of a generation.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// All files, sorted by path.
    pub files: Vec<File>,
    /// Findings that do not prevent generation, such as what the API server would warn about.
    pub warnings: Vec<Diagnostic>,
}

/// Generates the client crate, the CRD files and the admission policies from the groups of a types crate. Does not
/// access the disk.
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
    let of_client: Vec<_> = api.groups.iter().map(|group| group.meta).collect();
    let (sources, manifests) = parallel::join(|| emit::client(&api, layout), || manifests(groups, &of_client, layout));
    let Generated { mut files, warnings } = manifests?;
    files.extend(sources?);
    files.sort();
    Ok(Generated { files, warnings })
}

/// Generates the CRD files, the admission policies, and the definitions of the fake clientset of some of the groups.
fn manifests(groups: &[ApiGroup], of_client: &[ApiGroup], layout: &Layout) -> Result<Generated, Diagnostics> {
    let mut definitions = crd::definitions(groups, layout)?;
    let fake = emit::fake_definitions(of_client, &definitions, layout)?;
    definitions.retain(|_, definition| !layout.external.contains(definition.group()));
    let crds = crd::files_of(&definitions, layout)?;
    let policies = policy::files(&layout.own_groups(groups), &definitions, layout)?;
    let files = crds.files.into_iter().chain(policies.files).chain(fake).collect();
    Ok(Generated { files, warnings: [crds.warnings, policies.warnings].concat() })
}

/// Generates the CRDs of the groups as a stream of YAML documents, with default options: for a program that contains
/// its kinds, and needs no generated files.
///
/// # Errors
/// A kind is invalid: every error names its Rust item.
pub fn definitions(groups: &[ApiGroup]) -> Result<String, Diagnostics> {
    let types_crate = groups.first().and_then(|group| group.module.split("::").next()).unwrap_or_default();
    let files = crd::files(groups, &Layout::for_types_crate(types_crate))?.files;
    let documents = files.into_iter().map(|file| file.contents).filter(|document| document.contains("\nkind: "));
    Ok(documents.collect::<Vec<_>>().join("---\n"))
}

/// Generates the API reference: a Markdown page for each version of each group that has definitions. Does not access
/// the disk.
///
/// # Errors
/// A definition is invalid: every error names its Rust item.
pub fn reference(groups: &[ApiGroup], layout: &Layout) -> Result<Vec<File>, Diagnostics> {
    docs::pages(groups, layout)
}
