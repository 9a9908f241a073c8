//! Values under a schema: unknown fields pruned, defaults filled in, the rest checked.
//!
//! The order of a write on the API server is [`prune`], [`drop_nulls`], [`default`], then [`validate`] and [`duplicates`].
//! Objects are passed without their `apiVersion`, `kind` and `metadata`, which no schema governs. Schemas are JSON as a
//! definition has it below `openAPIV3Schema`; one that the checker refuses does no harm here, but need not mean much.

mod correlation;
mod embedded;
mod fill;
mod format;
mod list_type;
mod metadata;
mod number;
mod outcome;
mod prune;
mod validate;

use serde_json::{Map, Value};

pub use embedded::Unreadable;
pub(crate) use embedded::{coerce, resource};
pub use fill::{default, drop_nulls};
pub(crate) use format::{is_known as is_known_format, is_uri};
pub use prune::prune;
pub(crate) use prune::prune_value;
pub(crate) use validate::validate_default;

pub use crate::go::json_type;

use crate::{
    finding::Finding,
    schema::{Additional, Schema},
};
use correlation::Old;

/// The rules of `schema` that an object breaks, with the texts of the real server.
///
/// CEL rules are [`cel`](crate::cel)'s, doubles in lists [`duplicates`]'.
#[must_use]
pub fn validate(fields: &Map<String, Value>, schema: &Value) -> Vec<Finding> {
    validate::object(fields, Schema(schema), None)
}

/// As [`validate`], but what `old` has alike may stay as it is: below `properties`, `additionalProperties` and the items of
/// lists that are maps, not inside `allOf`, `anyOf`, `oneOf` and `not`.
#[must_use]
pub fn validate_update(fields: &Map<String, Value>, old: &Map<String, Value>, schema: &Value) -> Vec<Finding> {
    let old = Value::Object(old.clone());
    validate::object(fields, Schema(schema), Some(Old(&old)))
}

/// The items of lists that are sets or maps which are there already, each reported once.
#[must_use]
pub fn duplicates(fields: &Map<String, Value>, schema: &Value) -> Vec<Finding> {
    list_type::duplicates(fields, Schema(schema))
}

/// The rules of Kubernetes objects that resources embedded in an object break.
#[must_use]
pub fn embedded_resources(fields: &Map<String, Value>, schema: &Value) -> Vec<Finding> {
    embedded::inside(fields, Schema(schema), "")
}

/// Makes the metadata of resources embedded in an object what Go reads of it, and returns the paths of the fields that are dropped
/// because no metadata has them.
///
/// # Errors
/// Metadata, an `apiVersion` or a `kind` of a wrong type, if that is to be refused.
pub fn coerce_embedded_resources(
    fields: &mut Map<String, Value>,
    schema: &Value,
    unreadable: Unreadable,
) -> Result<Vec<String>, Box<Finding>> {
    embedded::coerce_inside(fields, Schema(schema), unreadable)
}

/// Why Go cannot read this `metadata` of an object, in its words.
#[must_use]
pub fn unreadable_metadata(metadata: &Value) -> Option<String> {
    metadata::unreadable(metadata)
}

/// What a schema says of a field.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// It has this schema.
    Schema(&'a Value),
    /// It may be there, and no schema says more.
    Anything,
    /// It is unknown.
    No,
}

/// What `schema` says of the field of this name.
#[must_use]
pub fn property<'a>(schema: &'a Value, name: &str) -> Known<'a> {
    let schema = Schema(schema);
    match (schema.property(name), schema.additional()) {
        (Some(property), _) | (None, Some(Additional::Schema(property))) => Known::Schema(property.0),
        (None, Some(Additional::Allowed(true))) => Known::Anything,
        (None, Some(Additional::Allowed(false)) | None) => Known::No,
    }
}

/// The schema of the items of a list.
#[must_use]
pub fn item_schema(schema: &Value) -> Option<&Value> {
    Schema(schema).items().map(|items| items.0)
}

/// The path of a field inside `path`.
fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
