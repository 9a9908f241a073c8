//! Required fields that are not always written.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(CrdSchema, Deserialize, Serialize)]
pub struct WidgetSpec {
    #[serde(skip_serializing)]
    pub secret: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    // Not an error: it can be absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Alias,
}

pub type Alias = Option<i32>;

#[derive(CrdSchema, Deserialize, Serialize)]
pub enum Shape {
    Circle {
        #[serde(skip_serializing_if = "String::is_empty")]
        color: String,
    },
}

#[derive(CrdSchema, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Strict {
    #[serde(skip_deserializing)]
    pub size: i32,
}

fn main() {}
