//! A variant that has another name in the hub.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub enum Hub {
    Memory,
    Disk,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub enum Spoke {
    Memory,
    #[convert(from = "Disc")]
    Disk,
}

fn main() {}
