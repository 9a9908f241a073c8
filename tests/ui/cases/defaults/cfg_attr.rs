//! A default inside a `cfg_attr`.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[kubewright_core::defaults]
#[derive(Clone, Debug, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[cfg_attr(all(), default(30))]
    pub size: i32,
    #[default(30)]
    pub width: i32,
}

fn main() {}
