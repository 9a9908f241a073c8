//! `#[default = ..]` instead of `#[default(..)]`.

use logger_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[logger_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default = 30]
    pub size: i32,
}

fn main() {}
