//! The attribute below the derive of `Deserialize`.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
#[kubewright_core::defaults]
#[derive(Clone, Debug, DeepCopy, JsonSchema)]
pub struct Spec {
    #[default(30)]
    pub size: i32,
}

fn main() {}
