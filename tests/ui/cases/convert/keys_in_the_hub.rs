//! Conversions that are declared in the hub.

use kubewright_core::Convert;
use serde::{Deserialize, Serialize};

#[derive(Convert, Deserialize, Serialize)]
#[convert(hub, store = [color])]
pub struct Hub {
    #[convert(store)]
    pub size: i32,
}

fn main() {}
