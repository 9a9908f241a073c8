//! The merge strategies of built-in kinds: Go's `patchStrategy` and `patchMergeKey`.
//!
//! Most follow from the list types of server-side apply. A table contains the exceptions.

use kubewright_crd::value::{Property, item_schema, property_schema};
use serde_json::Value;

use crate::resource::registry::Resource;

/// How a field is merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Strategy<'a> {
    /// No strategy: maps are merged and lists are replaced.
    Unspecified,
    /// Maps are replaced too.
    Replace,
    /// Lists of scalars are merged as sets.
    Union,
    /// Lists of maps are merged by this key.
    ByKey(&'a str),
}

impl Strategy<'_> {
    pub(super) fn merges_lists(self) -> bool {
        matches!(self, Self::Union | Self::ByKey(_))
    }
}

/// The schema of a map in an object. Without a schema, the strategies of all fields are unspecified.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatchSchema<'a> {
    schema: Option<&'a Value>,
}

/// Fields whose strategy differs from server-side apply, by type and field.
const OVERRIDES: &[(&str, &str, Strategy<'static>)] = &[
    ("v1.JobStatus", "conditions", Strategy::ByKey("type")),
    ("v1.NamespaceStatus", "conditions", Strategy::ByKey("type")),
    ("v1.PodDisruptionBudgetSpec", "selector", Strategy::Replace),
    ("v1.PodFailurePolicyOnExitCodesRequirement", "values", Strategy::Unspecified),
    ("v1.PodStatus", "hostIPs", Strategy::ByKey("ip")),
    ("v1.ResourceRequirements", "claims", Strategy::Unspecified),
    ("v1.ResourceStatus", "resources", Strategy::Unspecified),
    ("v1.UncountedTerminatedPods", "failed", Strategy::Unspecified),
    ("v1.UncountedTerminatedPods", "succeeded", Strategy::Unspecified),
    ("v1.ContainerRestartRuleOnExitCodes", "values", Strategy::Unspecified),
    ("v1.NodeAllocatableResourceClaimStatus", "containers", Strategy::Unspecified),
];

impl<'a> PatchSchema<'a> {
    /// Returns the schema of the objects of a kind.
    pub(super) fn root(kind: Option<&'a Resource>) -> Self {
        let schema = |kind: &'a Resource| match kind.as_built_in() {
            Some(facts) => Some(&facts.type_info().patch_schema),
            None => kind.schema(),
        };
        Self { schema: kind.and_then(schema) }
    }

    /// Returns the schema of a field, or of the items of a list, and the strategy of the field.
    pub(super) fn field(self, name: &str) -> (Self, Strategy<'a>) {
        let Some(parent) = self.schema else {
            return (self, Strategy::Unspecified);
        };
        let Property::Schema(schema) = property_schema(parent, name) else {
            return (Self { schema: None }, Strategy::Unspecified);
        };
        let inside = Self { schema: Some(item_schema(schema).unwrap_or(schema)) };
        let title = parent["title"].as_str().unwrap_or_default();
        let override_ = OVERRIDES.iter().find(|(type_, field, _)| *type_ == title && *field == name);
        (inside, override_.map_or_else(|| of_list_type(schema), |(_, _, strategy)| *strategy))
    }

    /// Returns the name of the Go type if it does not have the field.
    pub(super) fn missing_field_type(self, field: &str) -> Option<&'a str> {
        let schema = self.schema?;
        let is_struct =
            schema.get("properties").is_some() && matches!(property_schema(schema, field), Property::Unknown);
        let title = schema["title"].as_str().filter(|_| is_struct)?;
        Some(title.rsplit('.').next().unwrap_or(title))
    }
}

/// Returns the strategy for a list type of server-side apply. The merge key is the first of the map keys.
fn of_list_type(schema: &Value) -> Strategy<'_> {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => Strategy::Union,
        Some("map") => schema["x-kubernetes-list-map-keys"][0].as_str().map_or(Strategy::Unspecified, Strategy::ByKey),
        _ => Strategy::Unspecified,
    }
}
