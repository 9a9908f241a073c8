//! Kustomization files.

use serde::Serialize;

/// A kustomization: the files of a directory, and what is changed in them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Kustomization {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// The namespace of all objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<String>,
    /// The prefix of all names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name_prefix: Option<String>,
    pub(super) resources: Vec<String>,
    /// The files of patches, which are applied before the namespace and the prefix.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) patches: Vec<PatchFile>,
}

/// The file of a patch of an object.
#[derive(Serialize)]
pub(super) struct PatchFile {
    pub(super) path: String,
}

impl Kustomization {
    /// Lists these files and directories.
    pub(super) fn new(resources: impl IntoIterator<Item = String>) -> Self {
        Kustomization {
            api_version: "kustomize.config.k8s.io/v1beta1",
            kind: "Kustomization",
            namespace: None,
            name_prefix: None,
            resources: resources.into_iter().collect(),
            patches: Vec::new(),
        }
    }
}
