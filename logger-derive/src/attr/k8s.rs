//! `#[k8s(..)]`: the names, versions and subresources of a kind, and the kind of a list.

use darling::{FromMeta, util::Flag};
use syn::{LitInt, LitStr, Path};

use super::columns::PrintColumns;

/// `#[k8s(..)]` on a kind: Go's `+kubebuilder:resource`, `subresource` and `printcolumn`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct K8s {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) kind: Option<LitStr>,
    /// The list type of an `ApiObject` that is not generated.
    pub(crate) list: Option<Path>,
    pub(crate) plural: Option<LitStr>,
    pub(crate) singular: Option<LitStr>,
    pub(crate) short_names: Vec<LitStr>,
    pub(crate) categories: Vec<LitStr>,
    pub(crate) scope: Option<LitStr>,
    pub(crate) lifecycle: Option<Lifecycle>,
    pub(crate) subresource: Subresource,
    pub(crate) printcolumns: PrintColumns,
    pub(crate) selectable_fields: Vec<LitStr>,
    /// `+kubebuilder:storageversion`
    pub(crate) storage: Flag,
    /// `+kubebuilder:unservedversion`
    pub(crate) unserved: Flag,
    pub(crate) metadata: DefinitionMetadata,
    pub(crate) conversion: Option<Conversion>,
    pub(crate) allow: Allow,
}

/// `#[k8s(allow(..))]`: warnings of the generator about what is intended.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Allow {
    pub(crate) status_type: Flag,
    pub(crate) status_without_subresource: Flag,
    pub(crate) version_name: Flag,
}

/// `#[k8s(metadata(..))]`: Go's `+kubebuilder:metadata`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct DefinitionMetadata {
    pub(crate) annotations: Vec<LitStr>,
    pub(crate) labels: Vec<LitStr>,
}

/// `#[k8s(subresource(..))]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Subresource {
    pub(crate) status: Flag,
    pub(crate) scale: Option<Scale>,
}

/// `#[k8s(subresource(scale(..)))]`.
#[derive(FromMeta)]
pub(crate) struct Scale {
    pub(crate) spec_path: LitStr,
    pub(crate) status_path: LitStr,
    #[darling(default)]
    pub(crate) selector_path: Option<LitStr>,
}

/// `#[k8s(..)]` on a list.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct K8sList {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) kind: Option<LitStr>,
}

/// The keys of `lifecycle(..)`.
#[derive(FromMeta)]
pub(crate) struct Lifecycle {
    pub(crate) introduced: LitStr,
    #[darling(default)]
    pub(crate) deprecated: Option<LitStr>,
    #[darling(default)]
    pub(crate) removed: Option<LitStr>,
    #[darling(default)]
    pub(crate) replacement: Option<Path>,
}

/// The keys of `conversion(..)`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Conversion {
    pub(crate) webhook: Flag,
    pub(crate) none: Option<LitStr>,
    pub(crate) service: Option<LitStr>,
    pub(crate) namespace: Option<LitStr>,
    pub(crate) path: Option<LitStr>,
    pub(crate) port: Option<LitInt>,
}
