//! Conflicting defaults for serde and schemars.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub fn ten() -> i32 {
    10
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(1)]
    #[serde(default)]
    pub size: i32,
    #[serde(default = "ten")]
    #[default(1)]
    pub width: i32,
    #[default(1)]
    #[schemars(default = "ten")]
    pub height: i32,
}

fn main() {}
