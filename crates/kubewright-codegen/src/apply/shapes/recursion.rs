//! Boxes for recursive apply configurations: without a list or map between its levels, a struct would contain itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::apply::{Configuration, FieldType};

/// Boxes each field whose configuration contains that of the field.
pub(super) fn add_boxes(configurations: &mut [Configuration]) {
    let contained: BTreeMap<String, BTreeSet<String>> = configurations
        .iter()
        .map(|configuration| {
            (
                configuration.name.to_string(),
                configuration.fields.iter().filter_map(|field| contained(&field.ty)).collect(),
            )
        })
        .collect();
    for configuration in configurations {
        let name = configuration.name.to_string();
        for field in &mut configuration.fields {
            if self::contained(&field.ty).is_some_and(|below| contains(&contained, &below, &name)) {
                add_box(&mut field.ty);
            }
        }
    }
}

/// Returns the name of the configuration that a field contains directly.
fn contained(ty: &FieldType) -> Option<String> {
    match ty {
        FieldType::Configuration(name) => Some(name.to_string()),
        FieldType::Nullable(inner) => contained(inner),
        FieldType::String | FieldType::Atomic(_) | FieldType::Boxed(_) | FieldType::List(_) | FieldType::Map(_) => None,
    }
}

/// Whether a configuration is another one, or contains it at any depth.
fn contains(contained: &BTreeMap<String, BTreeSet<String>>, name: &str, other: &str) -> bool {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![name]);
    while let Some(next) = pending.pop() {
        if next == other {
            return true;
        }
        if seen.insert(next) {
            pending.extend(contained.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    false
}

fn add_box(ty: &mut FieldType) {
    match ty {
        FieldType::Configuration(name) => *ty = FieldType::Boxed(name.clone()),
        FieldType::Nullable(inner) => add_box(inner),
        _ => {}
    }
}
