//! A stored field with functions.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    #[convert(with = seconds, store)]
    pub size: i32,
}

fn main() {}
