//! Warnings for formats and patterns that do not restrict values: unknown formats, which the API server ignores, and
//! patterns that only Go can run.

use super::crd::{Crd, any_schema};
use crate::{
    field::FieldError,
    go,
    pattern::{self, Pattern},
    schema::Schema,
    value::is_supported_format_for,
};

/// Returns a warning for each of them that the old definition does not have.
pub(super) fn warnings(new: Crd<'_>, old: Option<Crd<'_>>) -> Vec<FieldError> {
    let known: Vec<String> = old.into_iter().flat_map(all_warnings).collect();
    all_warnings(new).into_iter().filter(|warning| !known.contains(warning)).map(FieldError::warning).collect()
}

fn all_warnings(definition: Crd<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (_, schema) in definition.schemas() {
        any_schema(schema, &mut |schema| {
            let warnings = unknown_format(schema).into_iter().chain(pattern_of_go(schema));
            let new: Vec<_> = warnings.filter(|warning| !all.contains(warning)).collect();
            all.extend(new);
            false
        });
    }
    all
}

fn unknown_format(schema: Schema<'_>) -> Option<String> {
    let format = schema.string("format");
    let is_known = format.is_empty() || is_supported_format_for(schema.string("type"), format);
    (!is_known).then(|| format!("unrecognized format {}", go::quoted(format)))
}

/// The real API server enforces the pattern, and so has no such warning.
fn pattern_of_go(schema: Schema<'_>) -> Option<String> {
    let text = schema.string("pattern");
    let is_enforced = text.is_empty() || pattern::compiled(text).map_or(true, |pattern| Pattern::is_enforced(&pattern));
    (!is_enforced).then(|| format!("pattern {} is too large to be enforced here", go::quoted(text)))
}
