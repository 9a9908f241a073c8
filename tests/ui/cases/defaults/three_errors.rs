//! Three errors, each on its value.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub enum Shape {
    Round,
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default]
    pub size: i32,
    #[default(1)]
    #[default(2)]
    pub width: i32,
    #[default(wit = ten)]
    pub height: i32,
    pub shape: Shape,
}

fn main() {}
