//! An atomic field whose type cannot be used in a configuration.

use kubewright_core::ApplyConfiguration;
use serde::{Deserialize, Serialize};

#[derive(ApplyConfiguration, Deserialize, Serialize)]
pub struct Spec {
    #[apply(atomic)]
    pub size: Option<Size>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub struct Size {
    pub width: i32,
}

fn main() {}
