//! How CRD files are written.

use logger_crd::structural;
use serde::Deserialize;

/// How CRD files are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrdOptions {
    /// The most characters a description may have; longer ones are cut at the end of a sentence, else of a word. 0 leaves
    /// all of them out; `None` keeps them whole.
    pub max_desc_len: Option<usize>,
    /// The most bytes a definition may have as `kubectl apply` keeps it in an annotation; where it has more, descriptions
    /// are left out, the deepest first. 0 sets no bound.
    pub max_bytes: usize,
    /// Whether fields may hold floating-point numbers.
    pub floats: Floats,
    /// How much of the metadata of embedded objects is described.
    pub embedded_metadata: EmbeddedMetadata,
    /// Whether a `kustomization.yaml` that names the files stands beside them.
    pub kustomization: bool,
}

impl CrdOptions {
    /// The bytes that all annotations of an object may have (apimachinery, `TotalAnnotationSizeLimitB`).
    pub const MAX_BYTES: usize = 262_144;

    /// What of it the schemas are made by.
    pub(super) fn structural(&self) -> structural::Options {
        structural::Options {
            metadata: match self.embedded_metadata {
                EmbeddedMetadata::Subset => structural::EmbeddedMetadata::Subset,
                EmbeddedMetadata::Full => structural::EmbeddedMetadata::Full,
                EmbeddedMetadata::None => structural::EmbeddedMetadata::None,
            },
            allow_floats: self.floats == Floats::Allow,
            ..structural::Options::default()
        }
    }
}

impl Default for CrdOptions {
    fn default() -> Self {
        CrdOptions {
            max_desc_len: None,
            max_bytes: CrdOptions::MAX_BYTES,
            floats: Floats::default(),
            embedded_metadata: EmbeddedMetadata::default(),
            kustomization: false,
        }
    }
}

/// Whether fields may hold floating-point numbers, which languages write and compare in different ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Floats {
    /// They may.
    Allow,
    /// Only those that say so themselves.
    #[default]
    Deny,
}

/// How much of the metadata of embedded objects, such as that of a pod template, is described. What is not is dropped by the
/// API server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddedMetadata {
    /// Name, namespace, labels, annotations and finalizers.
    #[default]
    Subset,
    /// Every field.
    Full,
    /// Nothing: `type: object`.
    None,
}
