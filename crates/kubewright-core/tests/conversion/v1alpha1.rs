//! A spoke with other names than the hub, and few fields.

use kubewright_core::{
    Convert, CrdSchema, DeepCopy, Object, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Deserialize, Serialize};

use super::v2;

/// A Widget.
#[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object, PartialEq)]
#[genclient]
#[convert(hub = v2::Widget, store = [status])]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

/// The desired state. The names of two fields are exchanged.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(
    hub = v2::WidgetSpec,
    store = [size, level, color, debug, rules, steps, limits, numbers],
    default(replicas = 1, mode = v2::Mode::Memory, shape = v2::Shape::Square { side: 1 }, class = "standard")
)]
pub struct WidgetSpec {
    #[convert(from = "interval")]
    pub name: String,
    #[convert(from = "name")]
    pub interval: String,
    /// Inlined in both versions.
    #[serde(flatten)]
    pub place: v2::Place,
}

kubewright_core::group_version! { group = "example.com", version = "v1alpha1", kinds = [Widget] }
