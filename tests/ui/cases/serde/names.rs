//! Names that the schema cannot have, because the API server stores an object with one of them.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(CrdSchema, Deserialize, Serialize)]
#[serde(rename_all(serialize = "camelCase", deserialize = "snake_case"))]
pub struct WidgetSpec {
    #[serde(rename(serialize = "Size", deserialize = "size"))]
    pub max_size: i32,
    #[serde(default, alias = "colour")]
    pub color: String,
    #[cfg_attr(all(), serde(alias = "old"))]
    pub new: Option<String>,
}

#[derive(CrdSchema, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "lowercase"), rename_all_fields(serialize = "camelCase"))]
pub enum Shape {
    #[serde(rename(deserialize = "ball"))]
    Circle { max_size: i32 },
    #[serde(rename_all(serialize = "camelCase"))]
    Square { max_size: i32 },
    #[serde(skip_deserializing)]
    Triangle { max_size: i32 },
}

#[derive(CrdSchema, Deserialize, Serialize)]
#[serde(tag = "type")]
pub struct Tagged {
    pub size: i32,
}

#[derive(CrdSchema, Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
pub enum Field {
    Size,
    Color,
}

#[derive(CrdSchema, Deserialize)]
#[serde(variant_identifier)]
pub enum Variant {
    Size,
    Color,
}

fn main() {}
