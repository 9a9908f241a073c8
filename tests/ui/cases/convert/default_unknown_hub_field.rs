//! A default of a field that the hub does not have.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub, default(color = "red"))]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
