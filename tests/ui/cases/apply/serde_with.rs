//! A custom serialisation of a field, and different names for reading and writing.

use kubewright_core::ApplyConfiguration;
use serde::{Deserialize, Serialize};

#[derive(ApplyConfiguration, Deserialize, Serialize)]
pub struct Spec {
    #[serde(with = "seconds")]
    pub every: Option<u32>,
    #[serde(rename(serialize = "Size", deserialize = "size"))]
    pub size: Option<u32>,
}

mod seconds {
    pub fn serialize<S: serde::Serializer>(value: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
        serde::Serialize::serialize(value, serializer)
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
        serde::Deserialize::deserialize(deserializer)
    }
}

fn main() {}
