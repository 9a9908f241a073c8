//! A default of a field that is optional in both versions.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: Option<i32>,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    #[convert(default = 30)]
    pub size: Option<i32>,
}

fn main() {}
