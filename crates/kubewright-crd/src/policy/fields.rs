//! Access to the fields of a definition, whose types the API server has checked.

use serde_json::Value;

use crate::field::{FieldError, Path};

/// Returns a field, or null.
pub(super) fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}

/// Returns a string, empty if it is absent.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    field(value, name).as_str().unwrap_or_default()
}

/// Returns a string that is present.
pub(super) fn optional_text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    field(value, name).as_str()
}

/// Returns the items of a list, none if it is absent.
pub(super) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    field(value, name).as_array().map_or(&[], Vec::as_slice)
}

/// Returns the strings of a list.
pub(super) fn texts<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    items(value, name).iter().filter_map(Value::as_str)
}

/// Validates a field with a fixed set of values, which is required.
pub(super) fn check_choice(
    parent: &Value,
    name: &str,
    choices: &[&str],
    path: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    match text(parent, name) {
        "" => errors.push(FieldError::required(path.child(name), "")),
        value if choices.contains(&value) => {}
        value => errors.push(FieldError::not_supported(path.child(name), value, choices.iter().copied())),
    }
}
