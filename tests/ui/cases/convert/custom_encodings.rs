//! Types whose encoding is not that of their fields.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub enum Hub {
    Memory,
    Disk,
    Replicated,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
#[serde(untagged)]
pub enum Untagged {
    Memory(i32),
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
#[serde(transparent)]
pub struct Transparent {
    pub size: i32,
}

fn main() {}
