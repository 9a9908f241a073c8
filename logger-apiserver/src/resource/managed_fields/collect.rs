//! The set of fields of a value, which an apply of the value owns.

use std::collections::BTreeMap;

use serde_json::{Map as Fields, Value};

use super::{
    path::{Path, PathElement},
    set::FieldSet,
    types::{Identity, List, Map, Shape, Type},
};

/// Returns all leaves of a value and all items of its associative lists (`ToFieldSet`).
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

/// Fields that the type does not declare and empty fields are members themselves.
fn collect_fields(set: &mut FieldSet, fields: &Fields<String, Value>, map: &Map, path: &mut Path) {
    for (name, value) in fields {
        path.push(PathElement::field(name));
        collect_into(set, value, map.field(name).unwrap_or(&Type::Deduced), path);
        let is_empty = value.is_null() || value.as_object().is_some_and(Fields::is_empty);
        if is_empty || !map.declares(name) {
            set.insert(path);
        }
        path.pop();
    }
}

/// Of duplicate items, only the path element is a member.
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
