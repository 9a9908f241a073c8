//! A hub that is a spoke itself.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct First {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = First)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
