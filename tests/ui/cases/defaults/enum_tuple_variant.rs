//! A default of a field without a name in a variant.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[kubewright_core::defaults]
#[derive(Clone, Debug, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub enum Shape {
    Round(#[default(1)] i32),
    #[default(2)]
    Square {
        size: i32,
    },
}

fn main() {}
