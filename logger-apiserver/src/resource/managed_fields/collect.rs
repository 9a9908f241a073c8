//! The fields a value has: those that applying it claims.

use std::collections::BTreeMap;

use serde_json::{Map as Fields, Value};

use super::{
    path::{Path, PathElement},
    set::FieldSet,
    types::{Identity, List, Map, Shape, Type},
};

/// Every leaf of a value, and every item of its lists.
pub(crate) fn collect(value: &Value, type_: &Type) -> FieldSet {
    let mut set = FieldSet::default();
    collect_into(&mut set, value, type_, &mut Path::new());
    set
}

fn collect_into(set: &mut FieldSet, value: &Value, type_: &Type, path: &mut Path) {
    match (type_.shape(Some(value)), value) {
        (Shape::Scalar(_), _) => set.insert(path),
        (Shape::List(List { identity: Identity::None, .. }), _) => set.insert(path),
        (Shape::Map(Map { atomic: true, .. }), _) => set.insert(path),
        (Shape::List(list), Value::Array(items)) => collect_items(set, items, list, path),
        (Shape::Map(map), Value::Object(fields)) => collect_fields(set, fields, map, path),
        (Shape::List(_) | Shape::Map(_), _) => {}
    }
}

/// A field that the type does not name is claimed itself, and so is one with nothing in it.
fn collect_fields(set: &mut FieldSet, fields: &Fields<String, Value>, map: &Map, path: &mut Path) {
    for (name, value) in fields {
        path.push(PathElement::field(name));
        collect_into(set, value, map.field(name).unwrap_or(&Type::Deduced), path);
        let is_empty = value.is_null() || value.as_object().is_some_and(Fields::is_empty);
        if is_empty || !map.names(name) {
            set.insert(path);
        }
        path.pop();
    }
}

/// Of items that are the same only that they are there is claimed.
fn collect_items(set: &mut FieldSet, items: &[Value], list: &List, path: &mut Path) {
    let mut by_element: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
    for item in items {
        if let Ok(element) = list.element(item) {
            by_element.entry(element).or_default().push(item);
        }
    }
    for (element, items) in by_element {
        path.push(element);
        if let [item] = items.as_slice() {
            collect_into(set, item, &list.item, path);
        }
        set.insert(path);
        path.pop();
    }
}
