//! A type without a JSON encoding.

use kubewright_core::Convert;

#[derive(Convert)]
#[convert(hub)]
pub struct Hub {
    pub size: i32,
}

#[derive(Convert)]
#[convert(hub = Hub)]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
