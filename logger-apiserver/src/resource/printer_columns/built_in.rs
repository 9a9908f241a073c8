//! The columns of built-in kinds, as a real server has them.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Value, json};

/// `built_in.json`: what a real kube-apiserver answers for a Table of each resource, as `cargo xtask overlay` derives it.
#[derive(Deserialize)]
struct Recorded {
    /// The description of every column of names.
    name: String,
    /// The description of every column of ages.
    age: String,
    /// By resource. The descriptions `=name` and `=age` stand for the two above.
    columns: BTreeMap<String, Vec<RecordedColumn>>,
}

/// Name, type, format, priority and description.
type RecordedColumn = (String, String, String, i32, String);

static RECORDED: LazyLock<Recorded> =
    LazyLock::new(|| serde_json::from_str(include_str!("built_in.json")).expect("the file is checked by a test"));

static COLUMNS: LazyLock<BTreeMap<&str, Vec<Value>>> = LazyLock::new(|| {
    let columns = RECORDED.columns.iter().map(|(resource, columns)| {
        let columns = columns.iter().map(|(name, type_, format, priority, description)| {
            let description = match description.as_str() {
                "=name" => &RECORDED.name,
                "=age" => &RECORDED.age,
                other => other,
            };
            column(name, type_, format, *priority, description)
        });
        (resource.as_str(), columns.collect())
    });
    columns.collect()
});

/// Returns the columns of a resource (`plural.group`), if it has specific ones.
pub(crate) fn of(resource: &str) -> Option<&'static [Value]> {
    COLUMNS.get(resource).map(Vec::as_slice)
}

/// Returns the columns of built-in kinds without specific ones.
pub(crate) fn fallback() -> Vec<Value> {
    vec![name(), column("Created At", "date", "", 0, &RECORDED.age)]
}

/// The first column of every custom kind.
pub(crate) fn name() -> Value {
    column("Name", "string", "name", 0, &RECORDED.name)
}

/// The column of custom kinds that say nothing of columns.
pub(crate) fn age() -> Value {
    column("Age", "date", "", 0, &RECORDED.age)
}

pub(crate) fn column(name: &str, type_: &str, format: &str, priority: i32, description: &str) -> Value {
    json!({ "name": name, "type": type_, "format": format, "description": description, "priority": priority })
}
