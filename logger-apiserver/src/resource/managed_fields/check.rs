//! Validates values against their types.

use std::collections::BTreeSet;

use logger_crd::field::append;
use serde_json::{Map as Fields, Value};

use super::types::{Identity, List, Map, Scalar, Shape, Type};
use crate::api::go;

/// The size of errors from which on no further ones are recorded, in bytes.
const MAX_ERRORS_SIZE: usize = 1 << 20;

/// Whether lists can contain duplicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Duplicates {
    /// Duplicates are valid: stored objects can have them.
    Allowed,
    /// Duplicates are errors.
    Rejected,
}

/// Validates a value. The errors of the real server are joined.
pub(crate) fn check(value: &Value, type_: &Type, duplicates: Duplicates) -> Result<(), String> {
    let mut walk = Walk { duplicates, errors: Vec::new(), size: 0 };
    walk.value(value, type_, "");
    match walk.errors.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

struct Walk {
    duplicates: Duplicates,
    errors: Vec<String>,
    /// The size of the errors, which is limited: each contains the path of its field.
    size: usize,
}

impl Walk {
    fn value(&mut self, value: &Value, type_: &Type, path: &str) {
        match (type_.shape(Some(value)), value) {
            (_, Value::Null) => {}
            (Shape::Scalar(scalar), value) => {
                if let Some(why) = scalar_error(scalar, value) {
                    self.error(path, &why);
                }
            }
            (Shape::List(list), Value::Array(items)) => self.list(items, list, path),
            (Shape::List(_), other) => self.error(path, &format!("expected list, got {}", go_value(other))),
            (Shape::Map(map), Value::Object(fields)) => self.map(fields, map, path),
            (Shape::Map(_), other) => self.error(path, &format!("expected map, got {}", go_value(other))),
        }
    }

    /// Validates all fields. The real server uses a random order and stops at the first undeclared field.
    fn map(&mut self, fields: &Fields<String, Value>, map: &Map, path: &str) {
        for (name, value) in fields {
            let path = append(path, format_args!(".{name}"));
            match map.field(name) {
                Some(type_) => self.value(value, type_, &path),
                None => self.error(&path, "field not declared in schema"),
            }
        }
    }

    /// Validates the items up to the first without a valid key.
    fn list(&mut self, items: &[Value], list: &List, path: &str) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let mut position = format!("[{index}]");
            if list.identity != Identity::None {
                let element = match list.element(item) {
                    Ok(element) => element,
                    Err(why) => return self.error(path, &format!("element {index}: {why}")),
                };
                position = element.to_string();
                if !seen.insert(element) && self.duplicates == Duplicates::Rejected {
                    self.error(path, &format!("duplicate entries for key {position}"));
                }
            }
            self.value(item, &list.item, &append(path, format_args!("{position}")));
        }
    }

    fn error(&mut self, path: &str, why: &str) {
        if self.size < MAX_ERRORS_SIZE {
            let error = if path.is_empty() { why.to_owned() } else { format!("{path}: {why}") };
            self.size += error.len();
            self.errors.push(error);
        }
    }
}

fn scalar_error(scalar: Scalar, value: &Value) -> Option<String> {
    let (fits, why) = match scalar {
        Scalar::Number => (value.is_number(), format!("expected numeric (int or float), got {}", go::type_name(value))),
        Scalar::Text => {
            let shown = go::syntax(value);
            (value.is_string(), format!("expected string, got &value.valueUnstructured{{Value:{shown}}}"))
        }
        Scalar::Boolean => (value.is_boolean(), format!("expected boolean, got {}", go_value(value))),
        Scalar::Any => {
            (!value.is_array() && !value.is_object(), format!("expected any scalar, got {}", go_value(value)))
        }
    };
    (!fits).then_some(why)
}

fn go_value(value: &Value) -> String {
    format!("&{{{}}}", go::text(value))
}
