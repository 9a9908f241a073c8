//! `None` as a default.

use logger_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[logger_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(None)]
    pub size: Option<i32>,
}

fn main() {}
