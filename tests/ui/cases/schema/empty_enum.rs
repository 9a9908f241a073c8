//! Enums without a value in JSON.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(CrdSchema, Deserialize, Serialize)]
pub enum Shape {}

#[derive(CrdSchema, Deserialize, Serialize)]
pub enum Color {
    #[serde(skip)]
    Red,
}

fn main() {}
