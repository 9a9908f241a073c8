//! Validation of `selectableFields`.

use std::collections::BTreeSet;

use super::{crd::Fields, field_path};
use crate::{
    field::{FieldError, Path},
    schema::Schema,
};

/// The maximum number of selectable fields of a version.
pub const MAX_SELECTABLE_FIELDS: usize = 8;

/// Validates that selectable fields are scalars that the schema specifies. `allow_too_many` is set if an update does
/// not change a list with too many fields.
pub(super) fn validate<'a>(
    fields: impl Iterator<Item = Fields<'a>>,
    schema: Schema<'_>,
    at: &Path<'_>,
    allow_too_many: bool,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut known = BTreeSet::new();
    for (index, field) in fields.enumerate() {
        let item = at.index(index);
        let json_path = field.string("jsonPath");
        let at = item.child("jsonPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(at, ""));
            continue;
        }
        let found = match field_path::resolve(json_path, schema, false) {
            Ok(found) => found,
            Err(detail) => {
                errors.push(FieldError::invalid(at, json_path, format!("is an invalid path: {detail}")));
                continue;
            }
        };
        if found.root == "metadata" {
            errors.push(FieldError::invalid(at, json_path, "must not point to fields in metadata"));
        }
        let type_ = found.schema.map_or("", |schema| schema.string("type"));
        if !["string", "boolean", "integer"].contains(&type_) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                          with formats are allowed.";
            errors.push(FieldError::invalid(at, json_path, detail));
        }
        if !known.insert(found.path) {
            errors.push(FieldError::duplicate(at, json_path));
        }
    }
    if known.len() > MAX_SELECTABLE_FIELDS && !allow_too_many {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        errors.push(FieldError::too_many(at, count(known.len()), count(MAX_SELECTABLE_FIELDS)));
    }
    errors
}
