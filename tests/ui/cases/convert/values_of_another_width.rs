//! A map whose values are narrower in the spoke.

use std::collections::BTreeMap;

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub sizes: BTreeMap<String, i64>,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Spoke {
    pub sizes: BTreeMap<String, i32>,
}

fn main() {}
