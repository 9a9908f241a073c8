//! Values of another kind.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = "Hub", store = color, lost = "color", default = 3)]
pub struct Spoke {
    #[convert(from = size, store = true)]
    pub size: i32,
    #[convert(with = "seconds", lost)]
    pub width: i32,
    #[convert(default, from = "a b")]
    pub depth: i32,
}

fn main() {}
