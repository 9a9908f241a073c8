//! Custom encodings whose schema is not known.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(CrdSchema, Deserialize, Serialize)]
pub struct WidgetSpec {
    #[serde(with = "text")]
    pub size: i32,
    #[serde(serialize_with = "text::serialize")]
    pub weight: i32,
    #[serde(deserialize_with = "text::deserialize")]
    pub height: i32,
    // Not an error: the schema is that of a string.
    #[serde(with = "text")]
    #[schemars(with = "String")]
    pub width: i32,
}

#[derive(CrdSchema, Deserialize, Serialize)]
pub enum Shape {
    #[serde(with = "text")]
    Circle(i32),
}

#[derive(Clone, CrdSchema, Deserialize, Serialize)]
#[serde(into = "String")]
pub struct Written {
    size: i32,
}

#[derive(Clone, CrdSchema, Deserialize, Serialize)]
#[serde(from = "i32", into = "String")]
pub struct Mixed {
    size: i32,
}

impl From<Written> for String {
    fn from(value: Written) -> Self {
        value.size.to_string()
    }
}

impl From<Mixed> for String {
    fn from(value: Mixed) -> Self {
        value.size.to_string()
    }
}

impl From<i32> for Mixed {
    fn from(size: i32) -> Self {
        Mixed { size }
    }
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
