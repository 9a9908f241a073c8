//! Version `v1` of group `gadgets.example.dev`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Gadget does one thing.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(short_names = ["gd"], subresource(status))]
#[k8s(printcolumns = [string("Purpose", ".spec.purpose"), boolean("Ready", ".status.ready")])]
pub struct Gadget {
    /// Standard metadata of the object.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: GadgetSpec,
    /// The observed state.
    pub status: Option<GadgetStatus>,
}

/// The desired state of a Gadget.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct GadgetSpec {
    /// The purpose of the Gadget.
    #[schemars(length(min = 1))]
    pub purpose: String,
}

/// The observed state of a Gadget.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct GadgetStatus {
    /// Whether the Gadget serves its purpose.
    pub ready: bool,
}

/// A list of Gadgets.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
pub struct GadgetList {
    /// Standard metadata of the list.
    pub metadata: ListMeta,
    /// The Gadgets.
    pub items: Vec<Gadget>,
}

kubewright_core::group_version! { group = "gadgets.example.dev", version = "v1", kinds = [Gadget, GadgetList] }
