//! Lists that are sets or maps hold nothing twice.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::child;
use crate::{
    finding::Finding,
    go,
    schema::{Additional, Schema},
};

/// The items of lists in an object that are there already.
pub(super) fn duplicates(fields: &Map<String, Value>, schema: Schema<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    check_fields(fields, schema, "", &mut findings);
    findings
}

fn check_fields(fields: &Map<String, Value>, schema: Schema<'_>, path: &str, findings: &mut Vec<Finding>) {
    for (name, value) in fields {
        if let Some(Additional::Schema(schema)) = schema.additional() {
            check(value, schema, &format!("{path}[{name}]"), findings);
        }
        if let Some(property) = schema.property(name) {
            check(value, property, &child(path, name), findings);
        }
    }
}

fn check(value: &Value, schema: Schema<'_>, path: &str, findings: &mut Vec<Finding>) {
    match value {
        Value::Object(fields) => check_fields(fields, schema, path, findings),
        Value::Array(items) => {
            match schema.list_type() {
                Some("set") => check_unique(items.clone(), path, findings),
                Some("map") => check_map(items, schema, path, findings),
                _ => {}
            }
            let Some(schema) = schema.items() else { return };
            for (index, item) in items.iter().enumerate() {
                check(item, schema, &format!("{path}[{index}]"), findings);
            }
        }
        _ => {}
    }
}

fn check_map(items: &[Value], schema: Schema<'_>, path: &str, findings: &mut Vec<Finding>) {
    let is_other = |item: &&Value| !item.is_object() && !item.is_null();
    if let Some((index, other)) = items.iter().enumerate().find(|(_, item)| is_other(item)) {
        let why = "must be an object for an array of list-type map";
        return findings.push(Finding::invalid(format!("{path}[{index}]"), other.clone(), why));
    }
    check_unique(items.iter().map(|item| key_of(item, schema)).collect(), path, findings);
}

/// The key fields of an item of a list that is a map; those it lacks are left out.
pub(super) fn key_of(item: &Value, schema: Schema<'_>) -> Value {
    let fields = schema.list_map_keys().filter_map(|name| Some((name.to_owned(), item.get(name)?.clone())));
    Value::Object(fields.collect())
}

/// However often something is there, it is reported once.
fn check_unique(values: Vec<Value>, path: &str, findings: &mut Vec<Finding>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, value) in values.into_iter().enumerate() {
        let times = seen.entry(go::json(&value)).or_default();
        *times += 1;
        if *times == 2 {
            findings.push(Finding::duplicate(format!("{path}[{index}]"), value));
        }
    }
}
