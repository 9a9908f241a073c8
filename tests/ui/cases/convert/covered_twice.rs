//! A field of the hub that is listed although a field converts into it.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub, store = [size])]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
