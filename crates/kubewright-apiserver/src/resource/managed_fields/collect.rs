//! The set of fields of a value, which an apply of the value owns.

use std::collections::BTreeMap;

use serde_json::{Map as Fields, Value};

use super::{
    path::PathElement,
    set::FieldSet,
    types::{Identity, List, Map, Shape, Type},
};

/// Returns all leaves of a value and all items of its associative lists (`ToFieldSet`).
pub(crate) fn collect(value: &Value, type_: &Type) -> FieldSet {
    collect_value(value, type_).1
}

/// Returns whether a value is a leaf, and the members below it.
fn collect_value(value: &Value, type_: &Type) -> (bool, FieldSet) {
    match (type_.shape(Some(value)), value) {
        (Shape::Scalar(_), _)
        | (Shape::List(List { identity: Identity::None, .. }), _)
        | (Shape::Map(Map { atomic: true, .. }), _) => (true, FieldSet::default()),
        (Shape::List(list), Value::Array(items)) => (false, collect_items(items, list)),
        (Shape::Map(map), Value::Object(fields)) => (false, collect_fields(fields, map)),
        (Shape::List(_) | Shape::Map(_), _) => (false, FieldSet::default()),
    }
}

/// Fields that the type does not declare and empty fields are members themselves.
fn collect_fields(fields: &Fields<String, Value>, map: &Map) -> FieldSet {
    let mut set = FieldSet::default();
    for (name, value) in fields {
        let (is_leaf, branch) = collect_value(value, map.field(name).unwrap_or(&Type::Deduced));
        let is_empty = value.is_null() || value.as_object().is_some_and(Fields::is_empty);
        set.insert_branch(PathElement::field(name), is_leaf || is_empty || !map.declares(name), branch);
    }
    set
}

/// Of duplicate items, only the path element is a member.
fn collect_items(items: &[Value], list: &List) -> FieldSet {
    let mut by_element: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
    for item in items {
        if let Ok(element) = list.element(item) {
            by_element.entry(element).or_default().push(item);
        }
    }
    let mut set = FieldSet::default();
    for (element, items) in by_element {
        let branch = match items.as_slice() {
            [item] => collect_value(item, &list.item).1,
            _ => FieldSet::default(),
        };
        set.insert_branch(element, true, branch);
    }
    set
}
