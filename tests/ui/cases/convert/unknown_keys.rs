//! Unknown keys, with suggestions.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub, stor = [color])]
pub struct Spoke {
    #[convert(form = "size")]
    pub size: i32,
    #[convert(hub)]
    pub width: i32,
}

fn main() {}
