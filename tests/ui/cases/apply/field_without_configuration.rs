//! A field whose type can be applied neither by field nor atomically.

use kubewright_core::ApplyConfiguration;
use serde::{Deserialize, Serialize};

#[derive(ApplyConfiguration, Deserialize, Serialize)]
pub struct Spec {
    pub size: Option<Size>,
}

#[derive(Deserialize, Serialize)]
pub struct Size {
    pub width: i32,
}

fn main() {}
