//! An enum is applied as a whole: its fields have no say.

use logger_core::ApplyConfiguration;
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
