//! A function of another type.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub interval: String,
}

mod seconds {
    pub fn to_hub(seconds: i64) -> String {
        format!("{seconds}s")
    }

    pub fn from_hub(interval: String) -> i32 {
        interval.trim_end_matches('s').parse().unwrap_or_default()
    }
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    #[convert(with = seconds)]
    pub interval: i32,
}

fn main() {}
