//! Removes fields from values.

use serde_json::{Map as Fields, Value};

use super::{
    path::PathElement,
    set::FieldSet,
    types::{Identity, List, Map, Shape, Type},
};

/// Returns the value without the members of a set (`RemoveItems`). Empty and atomic maps and lists become null.
pub(crate) fn without(value: &Value, set: &FieldSet, type_: &Type) -> Value {
    match (type_.shape(Some(value)), value) {
        (Shape::Scalar(_), value) => value.clone(),
        (Shape::List(list), Value::Array(items)) if list.identity != Identity::None => items_without(items, set, list),
        (Shape::Map(map), Value::Object(fields)) if !map.atomic => fields_without(fields, set, map),
        (Shape::List(_) | Shape::Map(_), _) => Value::Null,
    }
}

fn items_without(items: &[Value], set: &FieldSet, list: &List) -> Value {
    let remaining = |item: &Value| match list.element(item) {
        Ok(element) if set.has_member(&element) => None,
        Ok(element) => {
            Some(set.child(&element).map_or_else(|| item.clone(), |inside| without(item, inside, &list.item)))
        }
        Err(_) => Some(item.clone()),
    };
    let items: Vec<Value> = items.iter().filter_map(remaining).collect();
    if items.is_empty() { Value::Null } else { Value::Array(items) }
}

fn fields_without(fields: &Fields<String, Value>, set: &FieldSet, map: &Map) -> Value {
    let remaining = |(name, value): (&String, &Value)| {
        let element = PathElement::field(name);
        if set.has_member(&element) {
            return None;
        }
        let type_ = map.field(name).unwrap_or(&Type::Deduced);
        let rest = set.child(&element).map_or_else(|| value.clone(), |inside| without(value, inside, type_));
        Some((name.clone(), rest))
    };
    let fields: Fields<String, Value> = fields.iter().filter_map(remaining).collect();
    if fields.is_empty() { Value::Null } else { Value::Object(fields) }
}

/// Returns the set with all declared fields on the paths of its members (`EnsureNamedFieldsAreMembers`).
pub(crate) fn with_named_fields(set: &FieldSet, type_: Option<&Type>) -> FieldSet {
    let (map, list) = (type_.and_then(Type::map), type_.and_then(Type::list));
    let mut named = FieldSet::default();
    for element in set.members() {
        named.insert(std::slice::from_ref(element));
    }
    for (element, child) in set.children() {
        let (type_, is_declared) = match element {
            PathElement::Field(name) => {
                (map.and_then(|map| map.field(name)), map.is_some_and(|map| map.declares(name)))
            }
            PathElement::Key(_) => (list.map(|list| &list.item), false),
            PathElement::Value(_) | PathElement::Index(_) => (None, false),
        };
        named.insert_branch(element.clone(), is_declared, with_named_fields(child, type_));
    }
    named
}
