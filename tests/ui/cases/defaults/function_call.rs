//! A call instead of the path of a function.

use logger_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub fn ten() -> i32 {
    10
}

#[logger_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(with = ten())]
    pub size: i32,
}

fn main() {}
