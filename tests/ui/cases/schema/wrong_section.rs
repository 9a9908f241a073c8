//! Keys that do not apply to the item.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(immutable, column = "A", nullable)]
struct Spec {
    #[schema(exactly_one_of = [size, name])]
    size: i32,
    #[schema(via = schema)]
    name: String,
    #[schema(each(column = "A", required))]
    words: Vec<String>,
    #[serde(flatten)]
    #[schema(struct_type = atomic)]
    rest: Rest,
}

#[derive(Deserialize, CrdSchema, Serialize)]
struct Rest {
    more: Option<String>,
}

#[derive(Deserialize, CrdSchema, Serialize)]
struct Wrapped(#[schema(min = 1)] u8);

#[derive(Deserialize, CrdSchema, Serialize)]
enum Shape {
    #[schema(title = "round")]
    Circle,
    #[schema(min = 1)]
    Square { side: u8 },
}

fn main() {}
