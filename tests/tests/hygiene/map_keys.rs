//! Map keys can be strings, integers, newtypes of these and enums without data.

use std::collections::{BTreeMap, HashMap};

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Eq, CrdSchema, Ord, PartialEq, PartialOrd, Serialize)]
struct Name(String);

#[derive(Deserialize, Eq, CrdSchema, Ord, PartialEq, PartialOrd, Serialize)]
enum Color {
    Red,
    Green,
}

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    strings: BTreeMap<String, String>,
    integers: Option<HashMap<u64, Vec<BTreeMap<i32, String>>>>,
    newtypes: BTreeMap<Name, String>,
    enums: BTreeMap<Color, Color>,
}

#[derive(Deserialize, CrdSchema, Serialize)]
struct Generic<K: Ord> {
    map: BTreeMap<K, String>,
}

#[test]
fn compiles() {
    let spec = r#"{"strings":{},"integers":{"1":[{"-2":"a"}]},"newtypes":{"a":"b"},"enums":{"Red":"Green"}}"#;
    let spec: Spec = kubewright_core::serde_json::from_str(spec).unwrap();
    assert!(spec.integers.is_some() && Generic::<String> { map: BTreeMap::new() }.map.is_empty());
}
