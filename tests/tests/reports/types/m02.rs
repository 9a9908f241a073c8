//! Attributes whose values are arguments of a macro.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Dial {
    pub metadata: ObjectMeta,
    pub spec: DialSpec,
}

macro_rules! spec {
    ($docs:literal, $name:literal, $low:expr, $high:literal, $length:expr, $text:ty) => {
        #[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
        pub struct DialSpec {
            #[doc = $docs]
            #[serde(rename = $name)]
            #[schema(values = [$low, $high])]
            pub level: i32,
            #[schema(length = $length)]
            pub text: $text,
        }
    };
}

spec!(" The level.", "dialLevel", -1, 1, 1..=5, Option<String>);

kubewright_core::group_version! { group = "m02.reports.example", version = "v1", kinds = [Dial] }
