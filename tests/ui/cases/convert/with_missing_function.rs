//! A module without one of the functions.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub interval: String,
}

mod seconds {
    pub fn to_hub(seconds: i32) -> String {
        format!("{seconds}s")
    }
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    #[convert(with = seconds)]
    pub interval: i32,
}

fn main() {}
