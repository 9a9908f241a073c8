//! An enum is applied as a whole.

use logger_core::ApplyConfiguration;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, ApplyConfiguration, Deserialize, Serialize)]
pub enum Mood {
    Bright,
    Dark,
}

fn main() {}
