//! A list of a nested type without a conversion.

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
    pub sizes: Vec<HubInner>,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    pub sizes: Vec<SpokeInner>,
}

fn main() {}
