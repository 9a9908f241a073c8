//! A stored variant that the hub does not have.

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
    #[convert(store = [Tape])]
    Memory,
}

fn main() {}
