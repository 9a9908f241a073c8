//! Errors of CEL rules.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(validation(message = "no rule"))]
struct Spec {
    #[schema(validation(rule = ""))]
    a: i32,
    #[schema(validation(rule = "self >\n0"))]
    b: i32,
    #[schema(validation(rule = "self > 0", message = "two\nlines"))]
    c: i32,
    #[schema(validation(rule = "self > 0", reason = "Wrong"))]
    d: i32,
    #[schema(validation(rule = "self.x > 0", field_path = "x"))]
    e: Item,
    #[schema(validation(rule = "self > 0", optional_old_self))]
    f: i32,
    #[schema(validation = "self > 0")]
    g: i32,
    #[schema(validation(rule = "self > 0", message = " "))]
    h: i32,
}

#[derive(Deserialize, CrdSchema, Serialize)]
struct Item {
    x: i32,
}

fn main() {}
