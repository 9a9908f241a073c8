//! Constraints that would have no effect: on fields that are not in the schema, on types of another JSON type, and
//! beyond the range of a type.

use std::collections::BTreeMap;

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(CrdSchema, Deserialize, Serialize)]
pub struct WidgetSpec {
    #[serde(skip)]
    #[schema(min = 1)]
    pub cached: i32,
    #[schema(values = [1, 300], neq = -1)]
    pub size: u8,
    #[schema(each(values = [-129]))]
    pub sizes: Vec<i8>,
    pub letters: BTreeMap<char, i32>,
}

#[derive(Clone, CrdSchema, Deserialize, Serialize)]
#[serde(from = "i32", into = "i32")]
pub struct Size {
    #[schema(max = 5)]
    pub width: i32,
}

impl From<i32> for Size {
    fn from(width: i32) -> Self {
        Size { width }
    }
}

impl From<Size> for i32 {
    fn from(size: Size) -> Self {
        size.width
    }
}

#[derive(CrdSchema, Deserialize, Serialize)]
#[schema(min = -1000)]
pub struct Small(pub i8);

#[derive(CrdSchema, Deserialize, Serialize)]
#[schema(length = 1..)]
pub struct Number(pub i32);

#[derive(CrdSchema, Deserialize, Serialize)]
#[serde(default)]
pub struct Settings {
    // Not an error: it has a default.
    #[schema(required)]
    pub width: i32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { width: 1 }
    }
}

fn main() {}
