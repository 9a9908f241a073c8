//! A generic type.

use logger_core::ApplyConfiguration;

#[derive(ApplyConfiguration)]
pub struct Page<T> {
    pub items: Option<Vec<T>>,
}

fn main() {}
