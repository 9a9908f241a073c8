//! Validation of the list type, the map type, and the keys of list maps.

use serde_json::json;

use super::{go_struct, options::Options};
use crate::{
    field::{FieldError, Path},
    schema::Schema,
};

const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const KEYS: &str = "x-kubernetes-list-map-keys";

pub(super) fn validate(schema: Schema<'_>, options: &Options, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    validate_map_type(schema, at, errors);
    validate_list_type(schema, options, at, errors);
    validate_keys(schema, at, errors);
    if options.require_map_list_keys_map_set_validation {
        validate_list_items_and_keys(schema, at, errors);
    }
}

/// Validates that a schema with a list type or a map type has the matching type.
fn validate_type(schema: Schema<'_>, keyword: &str, expected: &str, at: &Path<'_>) -> Option<FieldError> {
    let type_ = schema.string("type");
    let detail = || format!("must be {expected} if {keyword} is specified");
    match type_ {
        _ if type_ == expected => None,
        "" => Some(FieldError::required(at.child("type"), detail())),
        _ => Some(FieldError::invalid(at.child("type"), type_, detail())),
    }
}

fn validate_map_type(schema: Schema<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(map_type) = schema.map_type() else { return };
    errors.extend(validate_type(schema, MAP_TYPE, "object", at));
    if !["atomic", "granular"].contains(&map_type) {
        errors.push(FieldError::not_supported(at.child(MAP_TYPE), map_type, ["atomic", "granular"]));
    }
}

fn validate_list_type(schema: Schema<'_>, options: &Options, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(list_type) = schema.list_type() else { return };
    match validate_type(schema, LIST_TYPE, "array", at) {
        Some(error) => errors.push(error),
        None => {
            if let Some(keyword) = granular_item(schema).filter(|_| options.require_atomic_set_type) {
                // The server shows the list type of the item in both cases.
                let item_list_type = schema.items().and_then(|items| items.get(LIST_TYPE)).cloned().unwrap_or_default();
                let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
                errors.push(FieldError::invalid(at.child("items").child(keyword), item_list_type, detail));
            }
        }
    }
    if !["atomic", "set", "map"].contains(&list_type) {
        errors.push(FieldError::not_supported(at.child(LIST_TYPE), list_type, ["atomic", "set", "map"]));
    }
}

/// Returns the keyword that makes the items of a set not atomic.
fn granular_item(schema: Schema<'_>) -> Option<&'static str> {
    let items = schema.items().filter(|_| schema.list_type() == Some("set"))?;
    match items.string("type") {
        "array" if items.list_type().is_some_and(|list_type| list_type != "atomic") => Some(LIST_TYPE),
        "object" if items.map_type() != Some("atomic") => Some(MAP_TYPE),
        _ => None,
    }
}

fn validate_keys(schema: Schema<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let keys: Vec<&str> = schema.list_map_keys().collect();
    let list_type = schema.list_type();
    if !keys.is_empty() && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        let at = at.child(LIST_TYPE);
        errors.push(
            list_type.map_or_else(|| FieldError::required(at, detail), |other| FieldError::invalid(at, other, detail)),
        );
    }
    if list_type != Some("map") {
        return;
    }
    if keys.is_empty() {
        errors.push(FieldError::required(at.child(KEYS), "must not be empty if x-kubernetes-list-type is map"));
    }
    let items_at = at.child("items");
    match (schema.get("items"), schema.items()) {
        (None, _) => errors.push(FieldError::required(items_at, "must have a schema if x-kubernetes-list-type is map")),
        (Some(items), None) => {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            errors.push(
                FieldError::invalid(items_at, items.clone(), detail).with_displayed_value(go_struct::items(schema)),
            );
        }
        (Some(_), Some(items)) if items.string("type") != "object" => {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            errors.push(FieldError::invalid(items_at.child("type"), items.string("type"), detail));
        }
        (Some(_), Some(items)) => validate_each_key(&keys, items, at, errors),
    }
}

fn validate_each_key(keys: &[&str], items: Schema<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let items_at = at.child("items");
    let properties = items_at.child("properties");
    for (index, key) in keys.iter().enumerate() {
        match items.property(key) {
            Some(property) if ["array", "object"].contains(&property.string("type")) => {
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(FieldError::invalid(properties.key(key).child("type"), items.string("type"), detail));
            }
            Some(_) => {}
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(at.child(KEYS), json!(keys), detail));
            }
        }
        if keys[..index].contains(key) {
            errors.push(FieldError::invalid(at.child(KEYS), json!(keys), "must not contain duplicate entries"));
        }
    }
}

/// Validates that the items of sets and maps are not nullable, and that keys are always set.
fn validate_list_items_and_keys(schema: Schema<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let (Some(items), Some(list_type @ ("set" | "map"))) = (schema.items(), schema.list_type()) else {
        return;
    };
    let items_at = at.child("items");
    if items.is_nullable() {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(items_at.child("nullable"), detail));
    }
    if list_type == "set" {
        return;
    }
    let properties = items_at.child("properties");
    for key in schema.list_map_keys() {
        let Some(property) = items.property(key) else { continue };
        let at = properties.key(key);
        let this = "this property is in x-kubernetes-list-map-keys, so it";
        if property.get("default").is_none() && items.strings("required").all(|name| name != key) {
            let detail = format!("{this} must have a default or be a required property");
            errors.push(FieldError::required(at.child("default"), detail));
        }
        if property.is_nullable() {
            errors.push(FieldError::forbidden(at.child("nullable"), format!("{this} cannot be nullable")));
        }
    }
}

/// Whether a list is a set whose items are not atomic.
pub(super) fn has_granular_set(schema: Schema<'_>) -> bool {
    granular_item(schema).is_some()
}

/// Whether a list is a set or a map with nullable items or optional keys.
pub(super) fn has_nullable_items_or_optional_keys(schema: Schema<'_>) -> bool {
    let mut errors = Vec::new();
    validate_list_items_and_keys(schema, &Path::root(""), &mut errors);
    !errors.is_empty()
}
