//! Built-in kinds: one table row for each, and the rules that all of them share.
//!
//! A kind is a row in `kinds`. Its schema is that of its k8s-openapi type, with the additions of a real server (the
//! overlay of `kubewright-crd`) and the markers in `markers.rs`. The schema determines how bodies are decoded,
//! defaulted, validated, merged and owned.

mod decode;
mod defaults;
mod kinds;
mod markers;
pub(crate) mod normalize;
mod published;
pub(crate) mod rules;
mod schema;
mod typed;
mod types;

use std::sync::LazyLock;

pub(crate) use decode::check_types;
pub(crate) use kinds::{all, definition, namespace};
pub(crate) use published::published;
pub(crate) use rules::{SYSTEM_PRIORITIES, check};
pub(crate) use schema::{TypeInfo, default};

use crate::resource::{stored_representation::Conversion, strategy::Strategy};

/// The properties of one built-in kind.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) version: &'static str,
    /// The group in whose representation objects are stored.
    pub(crate) storage_group: &'static str,
    /// The conversion of objects that are stored in another representation.
    pub(crate) conversion: Option<&'static Conversion>,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) categories: &'static [&'static str],
    pub(crate) namespaced: bool,
    pub(crate) has_status: bool,
    /// Replicas are in the spec and the status, the selector in the spec.
    pub(crate) has_scale: bool,
    pub(crate) strategy: Strategy,
    /// The warning that every request with a supported method returns.
    pub(crate) warning: Option<&'static str>,
    type_info: LazyLock<TypeInfo>,
}

pub(crate) type Fields = serde_json::Map<String, serde_json::Value>;

impl BuiltIn {
    pub(crate) fn type_info(&self) -> &TypeInfo {
        &self.type_info
    }
}
