//! A default of a flattened field.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Inner {
    pub size: Option<i32>,
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(with = Inner::default)]
    #[serde(flatten)]
    pub inner: Inner,
}

fn main() {}
