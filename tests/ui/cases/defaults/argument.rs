//! An argument of the macro that is not a key.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[kubewright_core::defaults(with = ten)]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(1)]
    pub size: i32,
}

fn main() {}
