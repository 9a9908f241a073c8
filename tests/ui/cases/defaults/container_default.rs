//! `#[serde(default)]` on the type.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Spec {
    #[default(1)]
    pub size: i32,
    pub name: String,
}

fn main() {}
