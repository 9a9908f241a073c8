//! An integer that is unsigned in the hub.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: u32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
