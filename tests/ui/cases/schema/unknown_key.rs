//! A misspelt key.

use kubewright_core::KubeSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, KubeSchema, Serialize)]
struct Spec {
    #[schema(qqqqqqqq = 1)]
    size: i32,
}

fn main() {}
