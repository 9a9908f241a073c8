//! A field that is required in the spoke only.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: Option<i32>,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
