//! A type without the attribute.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
pub struct Spoke {
    pub size: i32,
}

fn main() {}
