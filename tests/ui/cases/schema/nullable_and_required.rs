//! `nullable` and `required` on an `Option`, which is omitted when it is `None`.

use kubewright_core::{CrdSchema, Nullable};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(nullable, required)]
    option: Option<String>,
    #[schema(required)]
    #[schema(nullable)]
    other: Option<i32>,
    nullable: Nullable<String>,
}

fn main() {}
