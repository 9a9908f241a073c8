//! Errors of bounds that no value of the type exceeds.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(CrdSchema, Deserialize, Serialize)]
struct Spec {
    #[schema(max = 300)]
    small: u8,
    #[schema(min = -1, max = 10)]
    unsigned: Option<u32>,
    #[schema(each(min = -129))]
    list: Vec<i8>,
    #[schema(min = 0, max = 65535)]
    port: u16,
}

fn main() {}
