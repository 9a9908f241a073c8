//! A nested type that converts into another type of the hub.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct HubInner {
    pub width: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Other {
    pub width: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Other)]
pub struct SpokeInner {
    pub width: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: HubInner,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    pub size: SpokeInner,
}

fn main() {}
