//! A flattened enum that differs between the versions.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub enum HubInner {
    Width(i32),
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = HubInner)]
pub enum SpokeInner {
    Width(i32),
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
    pub size: SpokeInner,
}

fn main() {}
