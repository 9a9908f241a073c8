//! Reasons that are empty.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
    pub color: Option<String>,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub, lost(color = " "))]
pub struct Spoke {
    pub size: i32,
    #[convert(lost = "")]
    pub width: Option<i32>,
}

fn main() {}
