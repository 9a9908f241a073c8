//! Values of another type than the field.

use kubewright_core::DeepCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LARGE: i64 = 1 << 40;

#[derive(Clone, Debug, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub enum Format {
    Json,
}

pub fn ten() -> i32 {
    10
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub struct Spec {
    #[default(30)]
    pub level: String,
    #[default("info")]
    pub format: Option<Format>,
    #[default(LARGE)]
    pub other: Format,
    #[default(with = ten)]
    pub height: u8,
    #[default(with = nobody)]
    pub depth: u8,
}

fn main() {}
