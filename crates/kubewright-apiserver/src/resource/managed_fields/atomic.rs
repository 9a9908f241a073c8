//! Finds atomic values in an apply configuration.

use serde_json::Value;

use super::{
    path::{Path, PathElement},
    types::{Identity, Shape, Type},
};

/// Returns the paths of the atomic lists, maps and objects in a value.
pub(crate) fn atomic_paths(value: &Value, type_: &Type) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, type_, &mut Path::new(), &mut found);
    found
}

fn collect(value: &Value, type_: &Type, path: &mut Path, found: &mut Vec<String>) {
    match (type_.shape(Some(value)), value) {
        (Shape::Map(map), Value::Object(fields)) => {
            if map.atomic {
                found.push(text(path));
            }
            for (name, value) in fields {
                let Some(type_) = map.field(name) else { continue };
                path.push(PathElement::field(name));
                collect(value, type_, path, found);
                path.pop();
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            if list.identity == Identity::None {
                found.push(text(path));
            }
            for (index, item) in items.iter().enumerate() {
                path.push(PathElement::Index(index));
                collect(item, &list.item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

fn text(path: &Path) -> String {
    path.iter().map(ToString::to_string).collect()
}
