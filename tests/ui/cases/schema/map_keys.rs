//! Map keys that are not strings in JSON.

use std::collections::{BTreeMap, HashMap};

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Eq, CrdSchema, Ord, PartialEq, PartialOrd, Serialize)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Deserialize, Eq, CrdSchema, Ord, PartialEq, PartialOrd, Serialize)]
enum Shape {
    Circle { radius: i32 },
    Square(i32),
}

type Flag = bool;

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    points: BTreeMap<Point, String>,
    flags: Option<BTreeMap<Flag, String>>,
    shapes: Vec<BTreeMap<String, BTreeMap<Shape, String>>>,
    lists: HashMap<Vec<u8>, String>,
}

fn main() {}
