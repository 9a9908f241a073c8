//! `#[default(..)]` on the type and on a variant.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[default(1)]
pub struct Spec {
    #[default(2)]
    pub size: i32,
}

fn main() {}
