//! Unknown keys, nested ones included.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(exactly_oneof = [a, b])]
struct Spec {
    #[schema(minimum = 1)]
    size: i32,
    #[schema(lenght = 1..=9)]
    name: String,
    #[schema(validation(rul = "self > 0"))]
    speed: i32,
    #[schema(column(heading = "A"))]
    level: String,
    #[schema(external_docs(uri = "https://example.com"))]
    docs: String,
    #[schema(each(lenght = 1..))]
    words: Vec<String>,
}

fn main() {}
