//! Attributes of kinds do not apply to the types in them.

use kubewright_core::ApiType;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
#[genclient]
#[k8s(subresource(status))]
#[policy(rule = "true")]
pub struct WidgetSpec {
    #[k8s(short_names = ["wg"])]
    pub size: i32,
}

fn main() {}
