//! Where two JSON values differ, place by place

use std::collections::BTreeSet;

use serde_json::Value;

/// Tells each place where what was found is not what was recorded.
pub(crate) fn differing(recorded: &Value, found: &Value, told: &mut Vec<String>) {
    at(Some(recorded), Some(found), "", told);
}

fn at(recorded: Option<&Value>, found: Option<&Value>, place: &str, told: &mut Vec<String>) {
    match (recorded, found) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            names.into_iter().for_each(|name| at(left.get(name), right.get(name), &format!("{place}.{name}"), told));
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            pairs.for_each(|(index, (left, right))| at(Some(left), Some(right), &format!("{place}.{index}"), told));
        }
        _ if recorded != found => {
            let [recorded, found] = [recorded, found].map(|value| value.map_or("nothing".to_owned(), Value::to_string));
            told.push(format!("  {place}\n    recorded: {recorded}\n    found:    {found}"));
        }
        _ => {}
    }
}
