//! List and map types: what merges, and by what.

use serde_json::json;

use super::{internal, options::Options, path::Path};
use crate::{finding::Finding, schema::Schema};

const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const KEYS: &str = "x-kubernetes-list-map-keys";

pub(super) fn check(schema: Schema<'_>, options: &Options, at: &Path<'_>, findings: &mut Vec<Finding>) {
    check_map_type(schema, at, findings);
    check_list_type(schema, options, at, findings);
    check_keys(schema, at, findings);
    if options.require_sound_lists {
        check_soundness(schema, at, findings);
    }
}

/// A list or map type stands beside the type it is of.
fn check_type(schema: Schema<'_>, keyword: &str, of: &str, at: &Path<'_>) -> Option<Finding> {
    let type_ = schema.text("type");
    let why = || format!("must be {of} if {keyword} is specified");
    match type_ {
        _ if type_ == of => None,
        "" => Some(Finding::required(at.child("type"), why())),
        _ => Some(Finding::invalid(at.child("type"), type_, why())),
    }
}

fn check_map_type(schema: Schema<'_>, at: &Path<'_>, findings: &mut Vec<Finding>) {
    let Some(map_type) = schema.map_type() else { return };
    findings.extend(check_type(schema, MAP_TYPE, "object", at));
    if !["atomic", "granular"].contains(&map_type) {
        findings.push(Finding::not_supported(at.child(MAP_TYPE), map_type, ["atomic", "granular"]));
    }
}

fn check_list_type(schema: Schema<'_>, options: &Options, at: &Path<'_>, findings: &mut Vec<Finding>) {
    let Some(list_type) = schema.list_type() else { return };
    match check_type(schema, LIST_TYPE, "array", at) {
        Some(finding) => findings.push(finding),
        None => {
            if let Some(keyword) = granular_item(schema).filter(|_| options.require_atomic_sets) {
                // The server shows the list type of the item in either case.
                let of_item = schema.items().and_then(|items| items.get(LIST_TYPE)).cloned().unwrap_or_default();
                let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
                findings.push(Finding::invalid(at.child("items").child(keyword), of_item, why));
            }
        }
    }
    if !["atomic", "set", "map"].contains(&list_type) {
        findings.push(Finding::not_supported(at.child(LIST_TYPE), list_type, ["atomic", "set", "map"]));
    }
}

/// The keyword that keeps the items of a set from being one value each.
fn granular_item(schema: Schema<'_>) -> Option<&'static str> {
    let items = schema.items().filter(|_| schema.list_type() == Some("set"))?;
    match items.text("type") {
        "array" if items.list_type().is_some_and(|list_type| list_type != "atomic") => Some(LIST_TYPE),
        "object" if items.map_type() != Some("atomic") => Some(MAP_TYPE),
        _ => None,
    }
}

fn check_keys(schema: Schema<'_>, at: &Path<'_>, findings: &mut Vec<Finding>) {
    let keys: Vec<&str> = schema.list_map_keys().collect();
    let list_type = schema.list_type();
    if !keys.is_empty() && list_type != Some("map") {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        let at = at.child(LIST_TYPE);
        findings.push(list_type.map_or_else(|| Finding::required(at, why), |other| Finding::invalid(at, other, why)));
    }
    if list_type != Some("map") {
        return;
    }
    if keys.is_empty() {
        findings.push(Finding::required(at.child(KEYS), "must not be empty if x-kubernetes-list-type is map"));
    }
    let items_at = at.child("items");
    match (schema.get("items"), schema.items()) {
        (None, _) => findings.push(Finding::required(items_at, "must have a schema if x-kubernetes-list-type is map")),
        (Some(items), None) => {
            let why = "must only have a single schema if x-kubernetes-list-type is map";
            findings.push(Finding::invalid(items_at, items.clone(), why).showing(internal::items(schema)));
        }
        (Some(_), Some(items)) if items.text("type") != "object" => {
            let why = "must be object if parent array's x-kubernetes-list-type is map";
            findings.push(Finding::invalid(items_at.child("type"), items.text("type"), why));
        }
        (Some(_), Some(items)) => check_each_key(&keys, items, at, findings),
    }
}

fn check_each_key(keys: &[&str], items: Schema<'_>, at: &Path<'_>, findings: &mut Vec<Finding>) {
    let items_at = at.child("items");
    let properties = items_at.child("properties");
    for (index, key) in keys.iter().enumerate() {
        match items.property(key) {
            Some(property) if ["array", "object"].contains(&property.text("type")) => {
                let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                findings.push(Finding::invalid(properties.key(key).child("type"), items.text("type"), why));
            }
            Some(_) => {}
            None => {
                let why = "entries must all be names of item properties";
                findings.push(Finding::invalid(at.child(KEYS), json!(keys), why));
            }
        }
        if keys[..index].contains(key) {
            findings.push(Finding::invalid(at.child(KEYS), json!(keys), "must not contain duplicate entries"));
        }
    }
}

/// Items of sets and maps, and their keys, are always there.
fn check_soundness(schema: Schema<'_>, at: &Path<'_>, findings: &mut Vec<Finding>) {
    let (Some(items), Some(list_type @ ("set" | "map"))) = (schema.items(), schema.list_type()) else {
        return;
    };
    let items_at = at.child("items");
    if items.is_nullable() {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        findings.push(Finding::forbidden(items_at.child("nullable"), why));
    }
    if list_type == "set" {
        return;
    }
    let properties = items_at.child("properties");
    for key in schema.list_map_keys() {
        let Some(property) = items.property(key) else { continue };
        let at = properties.key(key);
        let this = "this property is in x-kubernetes-list-map-keys, so it";
        if property.get("default").is_none() && items.texts("required").all(|name| name != key) {
            let why = format!("{this} must have a default or be a required property");
            findings.push(Finding::required(at.child("default"), why));
        }
        if property.is_nullable() {
            findings.push(Finding::forbidden(at.child("nullable"), format!("{this} cannot be nullable")));
        }
    }
}

/// Whether a list is a set of what merges.
pub(super) fn has_granular_set(schema: Schema<'_>) -> bool {
    granular_item(schema).is_some()
}

/// Whether a list is a set or a map whose items or keys may be absent.
pub(super) fn has_unsound_list(schema: Schema<'_>) -> bool {
    let mut findings = Vec::new();
    check_soundness(schema, &Path::root(""), &mut findings);
    !findings.is_empty()
}
