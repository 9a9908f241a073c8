//! A variant that is stored and lost.

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
    #[convert(from = "Memory", store, lost = "never released")]
    Cache,
}

fn main() {}
