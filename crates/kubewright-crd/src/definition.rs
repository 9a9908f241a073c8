//! Validation of CustomResourceDefinitions: the errors and warnings of kube-apiserver 1.36.
//!
//! After `apiextensions-apiserver/pkg/apis/apiextensions/validation` and `.../pkg/apiserver/schema`. Errors have the
//! server's paths and messages, but can be in another order. The module [`cel`](crate::cel) validates the expressions
//! of rules.

mod conversion;
mod crd;
mod decode;
mod defaults;
mod field_path;
mod formats;
mod go_struct;
mod json_path;
mod lint;
mod metadata;
mod names;
mod openapi;
mod options;
mod printer_columns;
mod ratcheting;
mod rules;
mod selectable_fields;
mod spec;
mod structural;
mod subresources;
mod suggestion;
mod topology;
mod update;

use serde_json::Value;

use crate::{field::FieldError, schema::Schema};
use crd::Crd;
use options::Options;
pub use selectable_fields::MAX_SELECTABLE_FIELDS;

/// The number of errors from which on no further schemas are validated: each contains the path of its schema.
const MAX_SCHEMA_ERRORS: usize = 1000;

/// Validates a definition as a create request: returns all errors, then the warnings.
///
/// A definition that cannot be decoded (`maxLength: "5"`) has only that error, because the server validates no further.
pub fn validate(crd: &Value) -> Vec<FieldError> {
    let (crd, warnings) = match decode::decode(crd) {
        Ok(decoded) => decoded,
        Err(error) => return vec![*error],
    };
    let crd = Crd::new(&crd);
    let mut errors = metadata::validate(crd);
    errors.extend(spec::validate(crd, &Options::for_create()));
    errors.extend(metadata::validate_approval(crd, None));
    errors.extend(spec::validate_preserve_unknown_fields(crd));
    errors.extend(update::validate_stored_versions(crd, None));
    with_warnings(errors, warnings, || formats::warnings(crd, None))
}

/// Returns the error of a definition that cannot be decoded. The server returns it before it validates anything.
pub fn decode_error(crd: &Value) -> Option<FieldError> {
    decode::decode(crd).err().map(|error| *error)
}

/// Validates a definition as an update of `old`: where the server does, errors that `old` has already are ignored, and
/// changes of immutable fields are errors. The status is that of `old`, as on the server.
pub fn validate_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let (new, warnings) = match decode::decode(new) {
        Ok(decoded) => decoded,
        Err(error) => return vec![*error],
    };
    let Ok((old, _)) = decode::decode(old) else {
        return validate(&new);
    };
    let (new, old) = (Crd::new(&new), Crd::new(&old));
    let options = ratcheting::options(new, old);
    let mut errors = metadata::validate_update(new, old);
    errors.extend(spec::validate(new, &options));
    errors.extend(update::validate_immutable_fields(new, old));
    errors.extend(update::validate_stored_versions(new, Some(old)));
    errors.extend(metadata::validate_approval(new, Some(old)));
    if !old.spec().flag("preserveUnknownFields") {
        errors.extend(spec::validate_preserve_unknown_fields(new));
    }
    with_warnings(errors, warnings, || formats::warnings(new, Some(old)))
}

/// Returns warnings for paths of printer columns and of the scale subresource that do not match the schema of their
/// version, such as a misspelled field, or a field of a type that the column cannot show.
///
/// These are not warnings of the server, which accepts the definition: the column is empty, or requests to the scale
/// subresource fail. [`FieldError::field`] is the path in the definition, and [`FieldError::schema_path`] is the last
/// schema on the JSON path.
pub fn lint(crd: &Value) -> Vec<FieldError> {
    decode::decode(crd).map_or_else(|_| Vec::new(), |(crd, _)| lint::warnings(Crd::new(&crd)))
}

/// Checks that a JSON path refers to a field of the expected type in the schema of a version. Fields that the schema
/// allows without specifying them are accepted.
///
/// `expected` is the type of a printer column (`boolean`, `date`, `integer`, `number` or `string`), `integer` for the
/// replicas of a scale subresource, or `selector` for its label selector.
///
/// # Errors
/// Returns the error of an unknown field, with a suggestion, or of a field with another type.
pub fn check_json_path(schema: &Value, path: &str, expected: &str) -> Result<(), String> {
    lint::check(Schema(schema), path, expected)
}

/// Returns the type of a printer column for a field with this schema. `None` if the field is not a scalar.
pub fn printer_column_type(schema: &Value) -> Option<&'static str> {
    printer_columns::column_type(Schema(schema))
}

/// Adds the warnings: of unknown fields always, of unknown formats only for definitions without errors.
fn with_warnings(
    mut errors: Vec<FieldError>,
    unknown_fields: Vec<FieldError>,
    unknown_formats: impl FnOnce() -> Vec<FieldError>,
) -> Vec<FieldError> {
    if errors.is_empty() {
        errors = unknown_formats();
    }
    errors.extend(unknown_fields);
    errors
}

#[cfg(test)]
mod tests;
