//! A default that is not of the type of the field.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
    pub color: String,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub, default(color = 5))]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
