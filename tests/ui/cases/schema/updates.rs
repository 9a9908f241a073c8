//! Errors of keys about updates.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(update = [no_set])]
    required: String,
    #[schema(update = [no_unset])]
    also_required: i32,
    #[schema(update = [NoModify, no_modifi])]
    unknown: Option<String>,
    #[schema(update = [no_modify, no_modify])]
    twice: Option<String>,
    #[schema(update = [])]
    empty: Option<String>,
    #[schema(update = no_modify)]
    not_a_list: Option<String>,
    #[schema(update = [no_add_item])]
    scalar: Option<i32>,
    #[schema(immutable, update = [no_modify])]
    redundant: Option<i32>,
    #[schema(monotonic)]
    text: Option<String>,
    #[schema(monotonic = true)]
    value: Option<i32>,
}

fn main() {}
