//! The columns of built-in kinds, recorded from a real server.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Value, json};

/// The content of `built_in.json`: the Table columns of each resource on a real kube-apiserver, recorded by
/// `cargo xtask overlay`.
#[derive(Deserialize)]
struct Recorded {
    /// The description of name columns.
    name: String,
    /// The description of age columns.
    age: String,
    /// The columns by resource. The descriptions `=name` and `=age` refer to the fields above.
    columns: BTreeMap<String, Vec<RecordedColumn>>,
}

/// The name, type, format, priority and description of a column.
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
pub(crate) fn find(resource: &str) -> Option<&'static [Value]> {
    COLUMNS.get(resource).map(Vec::as_slice)
}

/// Returns the columns of built-in kinds without specific ones.
pub(crate) fn fallback() -> Vec<Value> {
    vec![name(), column("Created At", "date", "", 0, &RECORDED.age)]
}

/// Returns the first column of custom kinds.
pub(crate) fn name() -> Value {
    column("Name", "string", "name", 0, &RECORDED.name)
}

/// Returns the default column of custom kinds.
pub(crate) fn age() -> Value {
    column("Age", "date", "", 0, &RECORDED.age)
}

pub(crate) fn column(name: &str, type_: &str, format: &str, priority: i32, description: &str) -> Value {
    json!({ "name": name, "type": type_, "format": format, "description": description, "priority": priority })
}
