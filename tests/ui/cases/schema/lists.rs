//! Errors of list types and keys.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(list_type = map)]
    no_keys: Vec<Item>,
    #[schema(list_map_keys = ["name"])]
    no_type: Vec<Item>,
    #[schema(list_type = set, list_map_keys = ["name"])]
    keys_of_a_set: Vec<String>,
    #[schema(list_type = map, list_map_keys = ["name", "name"])]
    twice: Vec<Item>,
    #[schema(map_type = atomic, struct_type = granular)]
    both: Item,
}

#[derive(Deserialize, CrdSchema, Serialize)]
struct Item {
    name: String,
}

fn main() {}
