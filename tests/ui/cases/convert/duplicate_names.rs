//! Names that are listed twice.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
    pub color: Option<String>,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub, store = [color, color])]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
