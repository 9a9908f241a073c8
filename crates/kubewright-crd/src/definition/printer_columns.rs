//! Validation of `additionalPrinterColumns`.

use super::{crd::Fields, json_path};
use crate::{
    field::{FieldError, Path},
    schema::Schema,
};

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

pub(super) fn validate(column: Fields<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if column.string("name").is_empty() {
        errors.push(FieldError::required(at.child("name"), ""));
    }
    let one_of = |values: &[&str]| format!("must be one of {}", values.join(","));
    match column.string("type") {
        "" => errors.push(FieldError::required(at.child("type"), one_of(&TYPES))),
        type_ if TYPES.contains(&type_) => {}
        type_ => errors.push(FieldError::invalid(at.child("type"), type_, one_of(&TYPES))),
    }
    let format = column.string("format");
    if !format.is_empty() && !FORMATS.contains(&format) {
        errors.push(FieldError::invalid(at.child("format"), format, one_of(&FORMATS)));
    }
    let path = at.child("JSONPath");
    match column.string("jsonPath") {
        "" => errors.push(FieldError::required(path, "")),
        text => errors.extend(json_path::validate(text, path)),
    }
    errors
}

/// Returns the type of a column that shows a field.
pub(super) fn column_type(field: Schema<'_>) -> Option<&'static str> {
    match (field.string("type"), field.string("format")) {
        ("string", "date-time" | "date") => Some("date"),
        ("string", _) => Some("string"),
        ("integer", _) => Some("integer"),
        ("number", _) => Some("number"),
        ("boolean", _) => Some("boolean"),
        _ => None,
    }
}
