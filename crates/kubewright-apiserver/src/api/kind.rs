//! Kinds as plain data: their names, scope, subresources and selectable fields.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceSubresourceScale;

/// The paths of the fields that `/scale` reads and writes.
pub(crate) type ScalePaths = CustomResourceSubresourceScale;

/// One kind in one version.
#[derive(Debug, Clone)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// Whether `/status` is served. The main endpoint then ignores `status`.
    pub(crate) has_status: bool,
    /// The paths of `/scale`, if it is served.
    pub(crate) scale: Option<ScalePaths>,
    /// The paths of fields for field selectors, without the leading dot, beside those of every kind.
    pub(crate) selectable: Vec<String>,
    /// The group under which objects are stored and validated: `events.k8s.io` shares the storage of the core group.
    pub(crate) storage_group: String,
    /// Whether the kind is defined by a CustomResourceDefinition.
    pub(crate) is_custom: bool,
}

impl Kind {
    /// Returns `plural.group`, the resource in messages.
    pub(crate) fn group_resource(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// Returns `plural.group` of the stored objects, the key of the resource in the store.
    pub(crate) fn storage_key(&self) -> String {
        qualified(&self.plural, &self.storage_group)
    }

    /// Returns `Kind.group`.
    pub(crate) fn group_kind(&self) -> String {
        qualified(&self.kind, &self.group)
    }

    /// Returns `group/version`, or `version` in the core group.
    pub(crate) fn api_version(&self) -> String {
        group_version(&self.group, &self.version)
    }
}

/// Returns `name.group`, or `name` in the core group; for kinds and for resources.
pub(crate) fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { [name, ".", group].concat() }
}

/// Returns `group/version`, or `version` in the core group.
pub(crate) fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { [group, "/", version].concat() }
}
