//! An unsupported expression.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(vec![1, 2])]
    pub sizes: Vec<i32>,
    #[default(1 + 2)]
    pub size: i32,
    #[default(pub)]
    pub width: i32,
}

fn main() {}
