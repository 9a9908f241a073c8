//! An unknown key.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub fn ten() -> i32 {
    10
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(wit = ten)]
    pub size: i32,
}

fn main() {}
