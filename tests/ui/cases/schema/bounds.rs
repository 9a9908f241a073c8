//! Bounds that do not apply to the type of the field, and bounds out of range.

use std::collections::BTreeMap;

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(min = 1)]
    name: String,
    #[schema(length = 1..)]
    size: u64,
    #[schema(max = 10)]
    list: Vec<String>,
    #[schema(length = 1..)]
    map: BTreeMap<String, String>,
    #[schema(items = 3..=1)]
    range: Vec<String>,
    #[schema(max = 18_446_744_073_709_551_616)]
    big: u64,
    #[schema(min = 18_446_744_073_709_551_615, max = 18_446_744_073_709_551_614)]
    empty: u64,
}

fn main() {}
