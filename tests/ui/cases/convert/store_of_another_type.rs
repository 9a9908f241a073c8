//! A stored field whose type does not convert.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: String,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    #[convert(store)]
    pub size: i32,
}

fn main() {}
