//! Defaults: they have no unknown fields, and are valid under their own schema.

use serde_json::{Map, Value, json};

use super::path::Path;
use crate::{
    cel::Program,
    finding::Finding,
    judge,
    schema::Schema,
    value::{Unreadable, coerce, prune_value, resource, validate_default},
};

/// What is wrong with the defaults in a structural schema.
pub(super) fn check(schema: Schema<'_>, require_pruned: bool, at: &Path<'_>) -> Vec<Finding> {
    let mut walk = Walk { require_pruned, findings: Vec::new() };
    walk.node(schema, at, &Object { schema, is_root: true, steps: Vec::new() }, false);
    walk.findings
}

/// Whether a default in a structural schema has unknown fields.
pub(super) fn has_unpruned(schema: Schema<'_>) -> bool {
    let root = Path::root("");
    let unknown = |finding: &Finding| finding.detail == UNKNOWN;
    super::structural::is_structural(schema) && check(schema, true, &root).iter().any(unknown)
}

const UNKNOWN: &str = "must not have unknown fields";

struct Walk {
    require_pruned: bool,
    findings: Vec<Finding>,
}

/// The Kubernetes object that a schema is part of, and the way there.
#[derive(Clone)]
struct Object<'a> {
    schema: Schema<'a>,
    is_root: bool,
    steps: Vec<Option<&'a str>>,
}

impl<'a> Object<'a> {
    /// The object with a field more on the way, or with an item.
    fn step(&self, field: Option<&'a str>) -> Self {
        let mut next = self.clone();
        next.steps.push(field);
        next
    }

    /// An object with a value there, and nothing else but a type.
    fn around(&self, value: Value) -> Value {
        let around = |value, step: &Option<&str>| match step {
            Some(name) => Value::Object(Map::from_iter([((*name).to_owned(), value)])),
            None => Value::Array(vec![value]),
        };
        let mut object = self.steps.iter().rev().fold(value, around);
        for (name, type_) in [("apiVersion", "validation/v1"), ("kind", "Validation")] {
            if let Some(fields) = object.as_object_mut() {
                fields.entry(name).or_insert_with(|| json!(type_));
            }
        }
        object
    }
}

/// The rules of its schema that a default breaks, first as if it were there before, then as if it were new.
fn by_rules(value: &Value, schema: Schema<'_>, base: &str, is_object: bool) -> Vec<Finding> {
    let program = Program::of_part(schema.0, is_object);
    let run = |old| -> Vec<Finding> {
        program.validate(value, old).into_iter().map(|violation| judge::finding(violation, base)).collect()
    };
    match run(Some(value)) {
        broken if broken.is_empty() => run(None),
        broken => broken,
    }
}

impl Walk {
    fn node<'a>(&mut self, schema: Schema<'a>, at: &Path<'_>, object: &Object<'a>, in_meta: bool) {
        let own = Object { schema, is_root: object.is_root && object.steps.is_empty(), steps: Vec::new() };
        let (object, in_meta) = if schema.is_embedded() { (&own, false) } else { (object, in_meta) };
        if let Some(default) = schema.get("default") {
            let broken = if in_meta {
                self.in_meta(default, schema, object, at)
            } else {
                self.outside(default, schema, object, at)
            };
            self.findings.extend(broken);
        }
        if let Some(items) = schema.items() {
            self.node(items, &at.child("items"), &object.step(None), in_meta);
        }
        let is_object = object.steps.is_empty();
        let properties = at.child("properties");
        for (name, property) in schema.map("properties") {
            let in_meta = in_meta || is_object && ["metadata", "apiVersion", "kind"].contains(&name);
            self.node(property, &properties.key(name), &object.step(Some(name)), in_meta);
        }
    }

    fn outside(&self, default: &Value, schema: Schema<'_>, object: &Object<'_>, at: &Path<'_>) -> Vec<Finding> {
        let at = at.child("default");
        let is_object = object.steps.is_empty();
        let mut findings = Vec::new();
        let mut pruned = default.clone();
        prune_value(&mut pruned, schema, is_object);
        if self.require_pruned && pruned != *default {
            findings.push(Finding::invalid(at, default.clone(), UNKNOWN));
        }
        let base = at.to_string();
        let mut value = default.clone();
        let broken = match coerce(&mut value, schema, &base, is_object, Unreadable::Refused) {
            Err(finding) => vec![*finding],
            Ok(_) => match resource(&value, schema, &base, is_object) {
                broken if broken.is_empty() => match validate_default(&value, schema, &base) {
                    broken if broken.is_empty() => by_rules(&value, schema, &base, is_object),
                    broken => broken,
                },
                broken => broken,
            },
        };
        findings.extend(broken.into_iter().map(|finding| finding.within(at)));
        findings
    }

    /// A default of the type or the metadata of an object is put into one.
    fn in_meta(&self, default: &Value, schema: Schema<'_>, object: &Object<'_>, at: &Path<'_>) -> Vec<Finding> {
        let at = at.child("default");
        let mut around = object.around(default.clone());
        let result_in =
            |why: String| vec![Finding::invalid(at, default.clone(), format!("must result in valid metadata: {why}"))];
        if let Err(finding) = coerce(&mut around, object.schema, "", true, Unreadable::Refused) {
            return result_in(finding.to_string());
        }
        let broken: Vec<String> = resource(&around, object.schema, "", true).iter().map(Finding::to_string).collect();
        match broken.as_slice() {
            [] => {}
            [one] => return result_in(one.clone()),
            several => return result_in(format!("[{}]", several.join(", "))),
        }
        let broken = validate_default(default, schema, &at.to_string());
        broken.into_iter().map(|finding| finding.within(at)).collect()
    }
}
