//! Whether the generator leaves a schema as it is: what it would write otherwise cannot be kept.

use logger_crd::structural::{Options, Root, structural};
use serde_json::{Value, json};

use super::normal::{self, differences};
use crate::diagnostic::Diagnostics;

/// Notes what the generator would change of the schema of a whole object, which is in its normal form.
pub(super) fn keeps(schema: &Value, status: bool, at: &str, found: &mut Diagnostics) {
    let mut prepared = schema.clone();
    prepare(&mut prepared);
    let root = Root { docs: String::new(), status };
    let options = Options { root: Some(root), allow_floats: true, ..Options::default() };
    match structural(&prepared, &options) {
        Err(refusals) => {
            for refusal in refusals {
                found.push(format!("{at} {}", refusal.path), refusal.message);
            }
        }
        Ok(structural) => {
            let mut made = structural.schema;
            normal::schema(&mut made);
            normal::root(&mut made);
            for difference in differences(schema, &made) {
                let (path, what) = difference.split_once(": ").unwrap_or(("", &difference));
                let (path, keyword) = shown(path);
                let message = format!("the generator writes `{keyword}` otherwise, so it cannot be kept: {what}");
                found.push(format!("{at} {path}"), message);
            }
        }
    }
}

/// A path in a schema as that of a value, and the keyword it ends in.
fn shown(path: &str) -> (String, &str) {
    let (mut value, mut rest) = (String::new(), path.trim_start_matches('.'));
    loop {
        let (key, after) = rest.split_once('.').unwrap_or((rest, ""));
        match (key, after) {
            ("properties", after) if !after.is_empty() => {
                let (name, after) = after.split_once('.').unwrap_or((after, ""));
                value = format!("{value}.{name}");
                rest = after;
            }
            ("items", _) => (value, rest) = (value + "[]", after),
            ("additionalProperties", _) => (value, rest) = (value + "{}", after),
            _ => return (value, rest),
        }
    }
}

/// Says of objects without fields that they have none, as the derive does; the pass takes them for any object else.
fn prepare(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    let has = |key: &str| node.contains_key(key);
    let preserves = has("x-kubernetes-preserve-unknown-fields");
    if node.get("type") == Some(&json!("object")) && !has("properties") && !has("additionalProperties") && !preserves {
        node.insert("x-logger-empty".to_owned(), json!(true));
    }
    for (key, below) in node.iter_mut() {
        match key.as_str() {
            "properties" => below.as_object_mut().into_iter().flatten().for_each(|(_, schema)| prepare(schema)),
            "items" | "additionalProperties" => prepare(below),
            _ => {}
        }
    }
}
