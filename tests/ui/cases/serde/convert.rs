//! Encodings that a conversion does not support.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub enum Shape {
    #[serde(alias = "ball")]
    Circle,
    #[serde(untagged)]
    Other(String),
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct WidgetSpec {
    #[serde(default, alias = "length")]
    pub size: i32,
    #[serde(with = "text")]
    pub weight: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
#[serde(tag = "type")]
pub struct Tagged {
    pub size: i32,
}

mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &i32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

fn main() {}
