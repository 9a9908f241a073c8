//! Errors of keys about items, keys and values.

use std::collections::BTreeMap;

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(unique)]
    text: String,
    #[schema(unique = [name])]
    names: Vec<String>,
    #[schema(unique = [])]
    none: Vec<String>,
    #[schema(each_key(length = 1..=63))]
    list: Vec<String>,
    #[schema(each_key(min = 1))]
    unknown: BTreeMap<String, String>,
    #[schema(each_key(length = 3..=1))]
    range: BTreeMap<String, String>,
    #[schema(max_bytes = 0)]
    nothing: String,
    #[schema(max_bytes = "10")]
    quoted: String,
    #[schema(max_bytes = 10)]
    number: i32,
    #[schema(max_bytes = 10)]
    of_items: Vec<String>,
    #[schema(neq = [1])]
    several: i32,
    #[schema(neq = "a")]
    map: BTreeMap<String, String>,
}

fn main() {}
