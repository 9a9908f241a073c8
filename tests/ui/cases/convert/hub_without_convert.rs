//! A hub that is not declared as one.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
