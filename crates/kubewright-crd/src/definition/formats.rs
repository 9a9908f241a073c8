//! Warnings for unknown formats, which the server ignores.

use super::crd::{Crd, any_schema};
use crate::{field::FieldError, value::is_supported_format_for};

/// Returns a warning for each unknown format that the old definition does not have.
pub(super) fn warnings(new: Crd<'_>, old: Option<Crd<'_>>) -> Vec<FieldError> {
    let known: Vec<String> = old.into_iter().flat_map(unknown_formats).collect();
    let new = unknown_formats(new).into_iter().filter(|format| !known.contains(format));
    new.map(|format| FieldError::warning(format!("unrecognized format {}", crate::go::quoted(&format)))).collect()
}

fn unknown_formats(definition: Crd<'_>) -> Vec<String> {
    let mut unknown: Vec<String> = Vec::new();
    for (_, schema) in definition.schemas() {
        any_schema(schema, &mut |schema| {
            let format = schema.string("format");
            let is_new = || !unknown.iter().any(|known| known == format);
            if !format.is_empty() && !is_supported_format_for(schema.string("type"), format) && is_new() {
                unknown.push(format.to_owned());
            }
            false
        });
    }
    unknown
}
