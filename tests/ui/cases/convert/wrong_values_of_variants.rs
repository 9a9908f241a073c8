//! Values of another kind, on variants.

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
    #[convert(from, store = Replicated)]
    Memory,
    #[convert(lost)]
    Disk,
    #[convert(lost(Replicated))]
    Tape,
}

fn main() {}
