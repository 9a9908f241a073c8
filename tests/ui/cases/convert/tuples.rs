//! Types without named fields.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Pair(i32, i32);

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub struct Unit;

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub = Hub)]
pub enum Variants {
    Pair(i32, i32),
}

fn main() {}
