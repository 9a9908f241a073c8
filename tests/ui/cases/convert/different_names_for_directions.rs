//! Different names for serialization and deserialization.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct Spoke {
    #[serde(rename(serialize = "Size"))]
    pub size: i32,
}

fn main() {}
