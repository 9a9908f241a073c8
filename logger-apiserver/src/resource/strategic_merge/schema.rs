//! What the schemas of built-in kinds say of merging: Go's `patchStrategy` and `patchMergeKey`.
//!
//! These mostly follow from the types of lists that server-side apply goes by; where they do not, a table says so.

use logger_crd::value::{Property, item_schema, property_schema};
use serde_json::Value;

use crate::resource::registry::Resource;

/// How a field is merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Strategy<'a> {
    /// Maps are merged and lists are replaced.
    Usual,
    /// Even a map is replaced.
    Replace,
    /// A list of single values, as a set.
    Union,
    /// A list of maps with this merge key.
    ByKey(&'a str),
}

impl Strategy<'_> {
    pub(super) fn merges_lists(self) -> bool {
        matches!(self, Self::Union | Self::ByKey(_))
    }
}

/// A map in an object, by its schema; nothing is known of what has none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    schema: Option<&'a Value>,
}

/// Lists that server-side apply merges and patches replace, or the other way round, by type and field.
const UNLIKE_APPLY: &[(&str, &str, Strategy<'static>)] = &[
    ("v1.JobStatus", "conditions", Strategy::ByKey("type")),
    ("v1.NamespaceStatus", "conditions", Strategy::ByKey("type")),
    ("v1.PodDisruptionBudgetSpec", "selector", Strategy::Replace),
    ("v1.PodFailurePolicyOnExitCodesRequirement", "values", Strategy::Usual),
    ("v1.PodStatus", "hostIPs", Strategy::ByKey("ip")),
    ("v1.ResourceRequirements", "claims", Strategy::Usual),
    ("v1.ResourceStatus", "resources", Strategy::Usual),
    ("v1.UncountedTerminatedPods", "failed", Strategy::Usual),
    ("v1.UncountedTerminatedPods", "succeeded", Strategy::Usual),
    ("v1.ContainerRestartRuleOnExitCodes", "values", Strategy::Usual),
    ("v1.NodeAllocatableResourceClaimStatus", "containers", Strategy::Usual),
];

impl<'a> Place<'a> {
    /// An object.
    pub(super) fn root(kind: Option<&'a Resource>) -> Self {
        let schema = |kind: &'a Resource| match kind.as_built_in() {
            Some(facts) => Some(&facts.type_info().patch_schema),
            None => kind.schema(),
        };
        Self { schema: kind.and_then(schema) }
    }

    /// What a field holds (each item of it, if it is a list), and how it is merged.
    pub(super) fn field(self, name: &str) -> (Self, Strategy<'a>) {
        let Some(parent) = self.schema else {
            return (self, Strategy::Usual);
        };
        let Property::Schema(schema) = property_schema(parent, name) else {
            return (Self { schema: None }, Strategy::Usual);
        };
        let inside = Self { schema: Some(item_schema(schema).unwrap_or(schema)) };
        let title = parent["title"].as_str().unwrap_or_default();
        let unlike = UNLIKE_APPLY.iter().find(|(type_, field, _)| *type_ == title && *field == name);
        (inside, unlike.map_or_else(|| as_applied(schema), |(_, _, strategy)| *strategy))
    }

    /// The name of the Go type, if there is such a type and it has no such field.
    pub(super) fn lacks(self, field: &str) -> Option<&'a str> {
        let schema = self.schema?;
        let is_struct =
            schema.get("properties").is_some() && matches!(property_schema(schema, field), Property::Unknown);
        let title = schema["title"].as_str().filter(|_| is_struct)?;
        Some(title.rsplit('.').next().unwrap_or(title))
    }
}

/// The first key of a list that is merged by apply is the key it is merged by here.
fn as_applied(schema: &Value) -> Strategy<'_> {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => Strategy::Union,
        Some("map") => schema["x-kubernetes-list-map-keys"][0].as_str().map_or(Strategy::Usual, Strategy::ByKey),
        _ => Strategy::Usual,
    }
}
