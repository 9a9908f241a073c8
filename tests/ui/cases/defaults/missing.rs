//! `#[default(..)]` without `#[kubewright_core::defaults]`.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(30)]
    pub size: i32,
}

fn main() {}
