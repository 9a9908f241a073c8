//! A misspelt key.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(qqqqqqqq = 1)]
    size: i32,
}

fn main() {}
