//! Fields of the hub that are listed on an enum.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub enum Hub {
    Memory,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub, store = [color])]
pub enum Spoke {
    Memory,
}

fn main() {}
