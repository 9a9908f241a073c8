//! A kind with a lifetime parameter.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};

#[derive(Clone, Debug, Object)]
#[genclient]
pub struct Widget<'a> {
    pub metadata: ObjectMeta,
    pub spec: &'a str,
}

impl DeepCopy for Widget<'_> {
    fn deep_copy(&self) -> Self {
        self.clone()
    }
}

fn main() {}
