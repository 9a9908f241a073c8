//! A variant that has content in the spoke only.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub enum Hub {
    Disk,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub enum Spoke {
    Disk(String),
}

fn main() {}
