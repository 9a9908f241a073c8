//! A field that is flattened in the spoke only.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct HubInner {
    pub width: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = HubInner)]
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
    #[serde(flatten)]
    pub size: SpokeInner,
}

fn main() {}
