//! Errors of fields with one JSON name.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(CrdSchema, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct WidgetSpec {
    max_size: i32,
    #[serde(rename = "maxSize")]
    limit: i32,
}

#[derive(CrdSchema, Deserialize, Serialize)]
enum Shape {
    Circle {
        size: i32,
        #[serde(rename = "size")]
        radius: i32,
    },
    Square {
        size: i32,
    },
}

fn main() {}
