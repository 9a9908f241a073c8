//! A conversion of fields requires one of the type.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{ApiObject, ApiType};
use serde::{Deserialize, Serialize};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, ApiObject)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
    #[convert(store)]
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
pub struct WidgetSpec {
    #[convert(from = "width")]
    pub size: i32,
    pub color: Color,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ApiType)]
pub enum Color {
    #[convert(store)]
    Red,
}

fn main() {}
