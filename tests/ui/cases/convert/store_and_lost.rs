//! Fields that are stored and lost.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i64,
    pub color: Option<String>,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub, store = [color], lost(color = "never released"))]
pub struct Spoke {
    #[convert(store, lost = "never released")]
    pub size: i32,
}

fn main() {}
