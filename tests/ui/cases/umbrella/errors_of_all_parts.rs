//! The errors of all parts are reported at once, and none twice.

use kubewright_core::{ApiObject, ApiType};
use serde::{Deserialize, Serialize};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, ApiObject)]
#[genclient(readonyl)]
#[k8s(colour = "red")]
#[deep_copy(shallow)]
#[apply(complete)]
#[schema(titel = "Widget")]
pub struct Widget {
    pub metadata: ObjectMeta,
    #[serde(with = "words")]
    pub words: Vec<String>,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
pub struct WidgetSpec {
    #[schema(minimum = 1)]
    #[deep_copy(copy)]
    #[apply(atomics)]
    #[default(3)]
    pub size: i32,
    #[serde(rename(serialize = "a", deserialize = "b"))]
    pub name: String,
}

fn main() {}
