//! Values under a schema: pruning, defaulting and validation.
//!
//! The order of a write on the API server is [`prune`], [`prune_nulls`], [`default`], then [`validate`] and
//! [`validate_list_sets_and_maps`]. Objects are passed without their `apiVersion`, `kind` and `metadata`, which no
//! schema governs. A schema is the JSON below `openAPIV3Schema` of a definition. An invalid schema causes no panic, but
//! the result is unspecified.

mod correlation;
mod default;
mod embedded_resource;
mod expected_type;
mod format;
mod list_type;
mod number;
mod object_meta;
mod position;
mod prune;
mod result;
mod validate;

use serde_json::{Map, Value};

pub use crate::go::json_type;
pub use default::{DefaultsTooLarge, default, default_within_limit, prune_nulls};
pub use embedded_resource::InvalidFields;
pub(crate) use embedded_resource::{coerce, validate_resource};
pub(crate) use format::{is_supported as is_supported_format, is_supported_for as is_supported_format_for, is_uri};
pub(crate) use object_meta::is_known as is_object_meta_field;
pub use prune::prune;
pub(crate) use prune::prune_value;
pub(crate) use validate::validate_default;

use crate::{
    field::{FieldError, append},
    schema::{Additional, Schema},
};
use correlation::OldValue;

/// Validates an object against a schema, with the messages of the API server.
///
/// Does not run CEL rules (see [`Validator`](crate::validator::Validator)), and does not detect duplicate items
/// (see [`validate_list_sets_and_maps`]).
pub fn validate(fields: &Map<String, Value>, schema: &Value) -> Vec<FieldError> {
    validate::object(fields, Schema(schema), None)
}

/// Validates an update of `old` with ratcheting: the errors of an unchanged value are ignored.
///
/// Values are correlated below `properties`, `additionalProperties` and the items of lists of type map, not inside
/// `allOf`, `anyOf`, `oneOf` and `not`.
pub fn validate_update(fields: &Map<String, Value>, old: &Map<String, Value>, schema: &Value) -> Vec<FieldError> {
    validate::object(fields, Schema(schema), Some(OldValue::Fields(old)))
}

/// Validates that lists of type set or map have no duplicate items. A duplicate is reported once.
pub fn validate_list_sets_and_maps(fields: &Map<String, Value>, schema: &Value) -> Vec<FieldError> {
    list_type::validate(fields, Schema(schema))
}

/// Validates the type and the metadata of embedded resources.
pub fn validate_embedded_resources(fields: &Map<String, Value>, schema: &Value) -> Vec<FieldError> {
    embedded_resource::validate_fields(fields, Schema(schema), "")
}

/// Normalizes the metadata of embedded resources as if Go had decoded and encoded it. Returns the paths of the unknown
/// fields that are dropped.
///
/// # Errors
/// Returns the first field of a wrong type, if invalid fields are rejected.
pub fn coerce_embedded_resources(
    fields: &mut Map<String, Value>,
    schema: &Value,
    invalid_fields: InvalidFields,
) -> Result<Vec<String>, Box<FieldError>> {
    embedded_resource::coerce_fields(fields, Schema(schema), invalid_fields)
}

/// Returns the error of Go's decoder for the `metadata` of an object, if it cannot be decoded.
pub fn metadata_decode_error(metadata: &Value) -> Option<String> {
    object_meta::decode_error(metadata)
}

/// What a schema specifies for a field.
#[derive(Clone, Copy, Debug)]
pub enum Property<'a> {
    /// The field has this schema.
    Schema(&'a Value),
    /// The field is allowed and can have any value.
    Any,
    /// The field is unknown.
    Unknown,
}

/// Returns what `schema` specifies for the field `name`.
pub fn property_schema<'a>(schema: &'a Value, name: &str) -> Property<'a> {
    let schema = Schema(schema);
    match (schema.property(name), schema.additional()) {
        (Some(property), _) | (None, Some(Additional::Schema(property))) => Property::Schema(property.0),
        (None, Some(Additional::Allowed(true))) => Property::Any,
        (None, Some(Additional::Allowed(false)) | None) => Property::Unknown,
    }
}

/// Returns the schema of the items of a list.
pub fn item_schema(schema: &Value) -> Option<&Value> {
    Schema(schema).items().map(|items| items.0)
}

/// Returns the path of a field inside `path`.
fn child(path: &str, name: &str) -> String {
    if path.is_empty() { append("", format_args!("{name}")) } else { append(path, format_args!(".{name}")) }
}

/// Returns the path of a list item inside `path`.
fn item(path: &str, index: usize) -> String {
    append(path, format_args!("[{index}]"))
}

/// Returns the path of a map entry inside `path`.
fn entry(path: &str, key: &str) -> String {
    append(path, format_args!("[{key}]"))
}
