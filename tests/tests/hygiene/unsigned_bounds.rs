//! Bounds of a `u64` can exceed the range of `i64`.

use kubewright_core::CrdSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, CrdSchema, Serialize)]
struct Spec {
    #[schema(min = 9_223_372_036_854_775_808, max = 18_446_744_073_709_551_615)]
    size: u64,
    #[schema(values = [1, 18_446_744_073_709_551_615])]
    choice: u64,
}

#[test]
fn compiles() {
    let schema = schemars::schema_for!(Spec).to_value();
    let keywords = |name: &str| schema["properties"][name]["allOf"][1].clone();
    assert_eq!(keywords("size")["minimum"], i64::MAX.unsigned_abs() + 1);
    assert_eq!(keywords("size")["maximum"], u64::MAX);
    assert_eq!(keywords("choice")["enum"][1], u64::MAX);
}
