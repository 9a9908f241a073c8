//! Formats that the server does not know: it ignores them, and warns.

use super::definition::{Definition, any_schema};
use crate::{finding::Finding, value::is_known_format};

/// Warnings of unknown formats, each once; of those the old definition has, none.
pub(super) fn warnings(new: Definition<'_>, old: Option<Definition<'_>>) -> Vec<Finding> {
    let known: Vec<String> = old.into_iter().flat_map(unknown).collect();
    let new = unknown(new).into_iter().filter(|format| !known.contains(format));
    new.map(|format| Finding::warning(format!("unrecognized format {}", crate::go::quoted(&format)))).collect()
}

fn unknown(definition: Definition<'_>) -> Vec<String> {
    let mut unknown: Vec<String> = Vec::new();
    for (_, schema) in definition.schemas() {
        any_schema(schema, &mut |schema| {
            let format = schema.text("format");
            let is_new = || !unknown.iter().any(|known| known == format);
            if !format.is_empty() && !is_known_format(schema.text("type"), format) && is_new() {
                unknown.push(format.to_owned());
            }
            false
        });
    }
    unknown
}
