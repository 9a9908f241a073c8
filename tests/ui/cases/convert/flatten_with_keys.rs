//! Keys that need a value, on a flattened field.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct HubInner {
    pub width: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    #[serde(flatten)]
    pub size: HubInner,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    #[serde(flatten)]
    #[convert(store)]
    pub size: HubInner,
}

fn main() {}
