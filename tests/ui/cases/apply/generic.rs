//! A generic type.

use kubewright_core::ApplyConfiguration;

#[derive(ApplyConfiguration)]
pub struct Page<T> {
    pub items: Option<Vec<T>>,
}

fn main() {}
