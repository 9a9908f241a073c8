//! Keys that do not apply to the item.

use kubewright_core::KubeSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, KubeSchema, Serialize)]
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

#[derive(Deserialize, KubeSchema, Serialize)]
struct Rest {
    more: Option<String>,
}

#[derive(Deserialize, KubeSchema, Serialize)]
struct Wrapped(#[schema(min = 1)] u8);

#[derive(Deserialize, KubeSchema, Serialize)]
enum Shape {
    #[schema(title = "round")]
    Circle,
    #[schema(min = 1)]
    Square { side: u8 },
}

fn main() {}
