//! A nested type of the spoke without a conversion.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
pub struct HubInner {
    pub width: i32,
}

#[derive(Deserialize, Serialize)]
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
