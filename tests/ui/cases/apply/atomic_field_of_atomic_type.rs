//! An attribute on a field of a type that is applied atomically.

use kubewright_core::ApplyConfiguration;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, Deserialize, Serialize)]
pub enum Size {
    Round(i32),
    Square {
        #[apply(atomic)]
        side: i32,
    },
}

fn main() {}
