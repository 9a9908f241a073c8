//! The differences between two JSON values, by path.

use std::collections::BTreeSet;

use serde_json::Value;

/// Appends a line for each path at which the found value differs from the recorded one.
pub(crate) fn diff(recorded: &Value, found: &Value, report: &mut Vec<String>) {
    at(Some(recorded), Some(found), "", report);
}

fn at(recorded: Option<&Value>, found: Option<&Value>, path: &str, report: &mut Vec<String>) {
    match (recorded, found) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            names.into_iter().for_each(|name| at(left.get(name), right.get(name), &format!("{path}.{name}"), report));
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            pairs.for_each(|(index, (left, right))| at(Some(left), Some(right), &format!("{path}.{index}"), report));
        }
        _ if recorded != found => {
            let [recorded, found] = [recorded, found].map(|value| value.map_or("absent".to_owned(), Value::to_string));
            report.push(format!("  {path}\n    recorded: {recorded}\n    found:    {found}"));
        }
        _ => {}
    }
}
