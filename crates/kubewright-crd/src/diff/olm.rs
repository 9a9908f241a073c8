//! Changes of a definition that Operator Lifecycle Manager (OLM) v1 rejects when it upgrades an operator.
//!
//! OLM compares the installed definition with that of the new bundle before it applies anything. It rejects what it
//! cannot classify, so that its rules are stricter than those of [`compare`](super::compare), and clients are not
//! considered.
//!
//! | Change | OLM |
//! |---|---|
//! | scope | rejected |
//! | version in `status.storedVersions` removed | rejected |
//! | field removed, or its type changed | rejected |
//! | field required that was not, new or not, with or without default | rejected |
//! | default added, changed or removed | rejected |
//! | enum value removed, enum added | rejected |
//! | minimum raised or added, maximum lowered or added | rejected |
//! | any other keyword, and anything below `additionalProperties` | rejected, because it is not classified |
//! | optional field added, enum value added, bound or enum removed or wider | accepted |
//! | description | accepted |
//!
//! The same rules apply between each two served versions of the new definition, unless a webhook converts between them.
//!
//! From `crdify` of Kubernetes SIGs, in the configuration of operator-controller.

use std::cmp::Ordering;

use kubewright_names::version;
use serde_json::{Map, Value};

use super::{Change, Changes, Class::Rejected, Pair, definition, order, same, schema, strings};

/// Compares the installed definition with that of the new bundle. Returns the changes that OLM rejects, all of the
/// class [`Rejected`].
#[must_use]
pub fn compare(old: &Value, new: &Value) -> Vec<Change> {
    let mut changes = Changes::default();
    scope(old, new, &mut changes);
    stored_versions(old, new, &mut changes);
    for old_version in definition::versions(&old["spec"]) {
        let name = definition::name(old_version);
        if let Some(new_version) = definition::versions(&new["spec"]).find(|new| definition::name(new) == name) {
            changes.version = Some(name.to_owned());
            schemas(definition::schema_of(old_version), definition::schema_of(new_version), "", &mut changes);
        }
    }
    served_versions(&new["spec"], &mut changes);
    changes.list
}

fn scope(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let (old, new) = (old["spec"].get("scope"), new["spec"].get("scope"));
    if old != new {
        changes.push(Rejected, "spec.scope", "the scope changed", old, new);
    }
}

/// The storage version is stored even if the definition has no status, as in a file.
fn stored_versions(old: &Value, new: &Value, changes: &mut Changes<'_>) {
    let mut stored = strings(old["status"].get("storedVersions"));
    if stored.is_empty() {
        let storage = definition::versions(&old["spec"]).filter(|version| definition::is(version, "storage"));
        stored.extend(storage.map(definition::name));
    }
    let is_gone = |name: &&str| !definition::versions(&new["spec"]).any(|version| definition::name(version) == *name);
    for name in stored.into_iter().filter(is_gone) {
        let what = "a stored version is removed: migrate all objects to another version, and remove it from \
                    `status.storedVersions`";
        changes.push_text(Rejected, "spec.versions", what, Some(name.to_owned()), None);
    }
}

/// Compares each served version with those of a higher priority.
fn served_versions(spec: &Value, changes: &mut Changes<'_>) {
    if definition::strategy(spec) != "None" {
        return;
    }
    let mut served: Vec<_> = definition::versions(spec).filter(|version| definition::is(version, "served")).collect();
    served.sort_by(|a, b| version::compare(definition::name(a), definition::name(b)));
    for (index, old) in served.iter().enumerate() {
        for new in &served[index + 1..] {
            changes.version = Some(format!("{} -> {}", definition::name(old), definition::name(new)));
            schemas(definition::schema_of(old), definition::schema_of(new), "", changes);
        }
    }
    changes.version = None;
}

/// Compares the schema of a field, then those of its fields or items.
fn schemas(old: &Value, new: &Value, path: &str, changes: &mut Changes<'_>) {
    let Some(pair) = Pair::new(old, new) else {
        if old.is_object() {
            let what = "the field is removed";
            changes.push_text(Rejected, schema::or_root(path), what, Some(schema::type_name(old)), None);
        }
        return;
    };
    keywords(pair, schema::or_root(path), changes);
    for (name, old_field) in schema::properties(pair.old) {
        let new_field = schema::field(pair.new, name).unwrap_or(&Value::Null);
        schemas(old_field, new_field, &schema::child(path, name), changes);
    }
    if let Some(old_items) = pair.old.get("items") {
        schemas(old_items, pair.new.get("items").unwrap_or(&Value::Null), &format!("{path}[]"), changes);
    }
}

/// Compares the keywords of one schema, each of them once.
fn keywords(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let added = pair.new.keys().filter(|name| !pair.old.contains_key(*name));
    for name in pair.old.keys().chain(added) {
        match name.as_str() {
            "properties" | "items" | "description" => {}
            "type" if !pair.same(name) => push(pair, name, path, "the type changed", changes),
            "default" if !pair.same(name) => default(pair, path, changes),
            "required" => required(pair, path, changes),
            "enum" => enum_values(pair, path, changes),
            "type" | "default" => {}
            bound if BOUNDS.contains(&bound) => self::bound(pair, bound, path, changes),
            other if value(pair.old, other) == value(pair.new, other) || pair.same(other) => {}
            other => {
                let what = format!("OLM does not classify changes of `{other}`, and rejects them");
                push(pair, other, path, &what, changes);
            }
        }
    }
}

const BOUNDS: [&str; 8] =
    ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

fn push(pair: Pair<'_>, name: &str, path: &str, what: &str, changes: &mut Changes<'_>) {
    let (old, new) = pair.get(name);
    changes.push(Rejected, path, what, old, new);
}

/// Returns the value of a keyword. The API server does not distinguish absent values from empty ones.
fn value<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    schema.get(name).filter(|value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    })
}

fn default(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let what = match pair.get("default") {
        (None, _) => "a default is added",
        (_, None) => "the default is removed",
        _ => "the default changed",
    };
    push(pair, "default", path, what, changes);
}

fn required(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let old = strings(pair.old.get("required"));
    let parent = if path == "." { "" } else { path };
    for name in strings(pair.new.get("required")).into_iter().filter(|name| !old.contains(name)) {
        let what = "the field is required, and was not";
        changes.push(Rejected, &schema::child(parent, name), what, None, None);
    }
}

fn enum_values(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let values =
        |schema: &Map<String, Value>| schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let (old, new) = (values(pair.old), values(pair.new));
    if old.is_empty() && !new.is_empty() {
        push(pair, "enum", path, "the values are restricted, and were not", changes);
    }
    for removed in old.iter().filter(|value| !new.is_empty() && !new.iter().any(|new| same(value, new))) {
        changes.push(Rejected, path, "a value of the enum is removed", Some(removed), None);
    }
}

fn bound(pair: Pair<'_>, name: &str, path: &str, changes: &mut Changes<'_>) {
    let stricter = if name.starts_with("min") { Ordering::Less } else { Ordering::Greater };
    let what = match pair.get(name) {
        (None, Some(_)) => format!("`{name}` is added"),
        (Some(old), Some(new)) if order(old, new).is_none_or(|order| order == stricter) => {
            format!("`{name}` is stricter")
        }
        _ => return,
    };
    push(pair, name, path, &what, changes);
}
