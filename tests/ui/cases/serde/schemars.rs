//! Attributes of schemars that make the schema different from the JSON encoding.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(CrdSchema, Deserialize, Serialize)]
#[schemars(rename = "Name", rename_all = "camelCase")]
pub struct WidgetSpec {
    #[schemars(rename = "size", length(min = 1))]
    pub max_size: String,
    #[schemars(default)]
    pub color: String,
    #[schemars(flatten, description = "The part.")]
    pub part: Part,
    // Not an error: it removes the field from the schema.
    #[schemars(skip)]
    #[serde(default)]
    pub hidden: i32,
    #[serde(rename = "Length")]
    #[schemars(!rename)]
    pub length: i32,
}

#[derive(CrdSchema, Deserialize, Serialize)]
pub struct Part {
    pub weight: i32,
}

#[derive(CrdSchema, Deserialize, Serialize)]
#[schemars(tag = "type")]
pub enum Shape {
    #[schemars(rename = "ball")]
    Circle { size: i32 },
    #[schemars(skip)]
    Square { size: i32 },
}

fn main() {}
