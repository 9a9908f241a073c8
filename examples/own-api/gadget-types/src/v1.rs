//! Version `v1` of group `gadgets.example.dev`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use logger_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Gadget does one thing.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(short_names = ["gd"], subresource(status))]
#[k8s(printcolumns = [string("Purpose", ".spec.purpose"), boolean("Ready", ".status.ready")])]
pub struct Gadget {
    /// Name, namespace, labels.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: GadgetSpec,
    /// What was observed.
    pub status: Option<GadgetStatus>,
}

/// What is wanted of a Gadget.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct GadgetSpec {
    /// The one thing.
    #[schemars(length(min = 1))]
    pub purpose: String,
}

/// What was observed of a Gadget.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct GadgetStatus {
    /// Whether it does it.
    pub ready: bool,
}

/// A list of Gadgets.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
pub struct GadgetList {
    /// Version and continuation.
    pub metadata: ListMeta,
    /// The Gadgets.
    pub items: Vec<Gadget>,
}

logger_core::group_version! { group = "gadgets.example.dev", version = "v1", kinds = [Gadget, GadgetList] }
