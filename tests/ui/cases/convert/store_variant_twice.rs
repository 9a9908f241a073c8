//! Variants of the hub that two variants stand for.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub enum Hub {
    Memory,
    Disk,
    Replicated,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub enum Spoke {
    #[convert(store = [Replicated])]
    Memory,
    #[convert(store = [Replicated, Memory])]
    Disk,
}

fn main() {}
