//! Keys that do not apply to the type of the field.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(length = 1..=9)]
    size: i32,
    #[schema(min = 1)]
    name: Option<String>,
    #[schema(pattern = "^a", items = 1..)]
    words: Vec<String>,
    #[schema(each(min = 1))]
    texts: Vec<String>,
    #[schema(list_type = set)]
    map: BTreeMap<String, String>,
    #[schema(properties = 1..)]
    list: Vec<u8>,
    #[schema(min = 0.5)]
    whole: u8,
    #[schema(column = "Words")]
    more: Vec<String>,
    #[schema(struct_type = atomic)]
    flag: bool,
    #[schema(required)]
    always: String,
}

fn main() {}
