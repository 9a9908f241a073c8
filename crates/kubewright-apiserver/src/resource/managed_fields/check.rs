//! Validates values against their types.

use std::collections::BTreeSet;

use kubewright_crd::field::append;
use serde_json::{Map as Fields, Value};

use super::{
    path::PathElement,
    types::{Identity, List, Map, Scalar, Shape, Type},
};
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
    walk.value(value, type_, &Position::Root);
    match walk.errors.as_slice() {
        [] => Ok(()),
        [error] => Err(error.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

/// The path of a value, which is formatted only for errors.
enum Position<'a> {
    Root,
    Field(&'a Self, &'a str),
    Index(&'a Self, usize),
    Item(&'a Self, &'a PathElement),
}

impl Position<'_> {
    /// Formats the path. A long one is truncated.
    fn text(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Field(parent, name) => append(&parent.text(), format_args!(".{name}")),
            Self::Index(parent, index) => append(&parent.text(), format_args!("[{index}]")),
            Self::Item(parent, element) => append(&parent.text(), format_args!("{element}")),
        }
    }
}

struct Walk {
    duplicates: Duplicates,
    errors: Vec<String>,
    /// The size of the errors, which is limited: each contains the path of its field.
    size: usize,
}

impl Walk {
    fn value(&mut self, value: &Value, type_: &Type, position: &Position<'_>) {
        match (type_.shape(Some(value)), value) {
            (_, Value::Null) => {}
            (Shape::Scalar(scalar), value) => {
                if let Some(message) = scalar_error(scalar, value) {
                    self.error(position, &message);
                }
            }
            (Shape::List(list), Value::Array(items)) => self.list(items, list, position),
            (Shape::List(_), other) => self.error(position, &format!("expected list, got {}", go_value(other))),
            (Shape::Map(map), Value::Object(fields)) => self.map(fields, map, position),
            (Shape::Map(_), other) => self.error(position, &format!("expected map, got {}", go_value(other))),
        }
    }

    /// Validates all fields. The real server uses a random order and stops at the first undeclared field.
    fn map(&mut self, fields: &Fields<String, Value>, map: &Map, position: &Position<'_>) {
        for (name, value) in fields {
            let position = Position::Field(position, name);
            match map.field(name) {
                Some(type_) => self.value(value, type_, &position),
                None => self.error(&position, "field not declared in schema"),
            }
        }
    }

    /// Validates the items up to the first without a valid key.
    fn list(&mut self, items: &[Value], list: &List, position: &Position<'_>) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            if list.identity == Identity::None {
                self.value(item, &list.item, &Position::Index(position, index));
                continue;
            }
            let element = match list.element(item) {
                Ok(element) => element,
                Err(message) => return self.error(position, &format!("element {index}: {message}")),
            };
            if seen.contains(&element) {
                self.error(position, &format!("duplicate entries for key {element}"));
            }
            self.value(item, &list.item, &Position::Item(position, &element));
            if self.duplicates == Duplicates::Rejected {
                seen.insert(element);
            }
        }
    }

    fn error(&mut self, position: &Position<'_>, message: &str) {
        if self.size < MAX_ERRORS_SIZE {
            let path = position.text();
            let error = if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") };
            self.size += error.len();
            self.errors.push(error);
        }
    }
}

fn scalar_error(scalar: Scalar, value: &Value) -> Option<String> {
    match scalar {
        Scalar::Number if !value.is_number() => {
            Some(format!("expected numeric (int or float), got {}", go::type_name(value)))
        }
        Scalar::Text if !value.is_string() => {
            Some(format!("expected string, got &value.valueUnstructured{{Value:{}}}", go::syntax(value)))
        }
        Scalar::Boolean if !value.is_boolean() => Some(format!("expected boolean, got {}", go_value(value))),
        Scalar::Any if value.is_array() || value.is_object() => {
            Some(format!("expected any scalar, got {}", go_value(value)))
        }
        Scalar::Number | Scalar::Text | Scalar::Boolean | Scalar::Any => None,
    }
}

fn go_value(value: &Value) -> String {
    format!("&{{{}}}", go::text(value))
}
