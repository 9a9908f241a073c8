//! A union.

use kubewright_core::ApplyConfiguration;

#[derive(ApplyConfiguration)]
pub union Either {
    pub left: i32,
    pub right: u32,
}

fn main() {}
