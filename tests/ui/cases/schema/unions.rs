//! Errors of unions of fields.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(exactly_one_of = [a, c], at_most_one_of = [a], at_least_one_of = [a, b], at_most_one_of = [a, a, missing])]
#[schema(via = xml)]
struct Spec {
    a: Option<String>,
    b: Option<String>,
    c: String,
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(via = cel)]
struct Alone {
    a: Option<String>,
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(exactly_one_of = [a, b])]
enum Either {
    A,
    B,
}

#[derive(Deserialize, CrdSchema, Serialize)]
#[schema(exactly_one_of = "a, b")]
struct Texts {
    a: Option<String>,
    b: Option<String>,
}

fn main() {}
