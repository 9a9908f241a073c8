//! An enum that cannot be used in a configuration.

use kubewright_core::ApplyConfiguration;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, ApplyConfiguration, Deserialize, Serialize)]
pub enum Mood {
    Bright,
    Dark,
}

fn main() {}
