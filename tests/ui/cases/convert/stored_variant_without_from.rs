//! A stored variant without one that stands for it.

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
    #[convert(store)]
    Cache,
}

fn main() {}
