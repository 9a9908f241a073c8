//! Invalid values.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(min = "one")]
    a: i32,
    #[schema(min = 9, max = 1)]
    b: i32,
    #[schema(length = 1..9)]
    c: String,
    #[schema(length = 9..=1)]
    d: String,
    #[schema(length = ..)]
    e: String,
    #[schema(length = 5)]
    f: String,
    #[schema(values = [])]
    g: String,
    #[schema(values = "a")]
    h: String,
    #[schema(multiple_of = 0)]
    i: i32,
    #[schema(list_type = bag)]
    j: Vec<String>,
    #[schema(depth = 100)]
    k: Vec<String>,
    #[schema(exclusive_min)]
    l: i32,
    #[schema(nullable = true)]
    m: Option<i32>,
    #[schema(column(priority = 1))]
    n: i32,
    #[schema(column("A"))]
    o: i32,
}

fn main() {}
