//! A union.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert)]
#[convert(hub = Hub)]
pub union Spoke {
    pub size: i32,
}

fn main() {}
