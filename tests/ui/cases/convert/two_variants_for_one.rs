//! Two variants of the spoke that convert into one of the hub.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub enum Hub {
    Memory,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub enum Spoke {
    Memory,
    #[convert(from = "Memory")]
    Cache,
}

fn main() {}
