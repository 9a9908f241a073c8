//! The types and the format that a schema specifies.

use super::format;
use crate::schema::Schema;

/// The type that a schema specifies.
pub(super) struct ExpectedType<'a> {
    pub(super) types: Vec<&'a str>,
    /// The format, empty if there is none or if it is not supported.
    pub(super) format: &'a str,
}

impl<'a> ExpectedType<'a> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.types.contains(&name)
    }

    pub(super) fn has_number(&self) -> bool {
        self.has("number") || self.has("integer")
    }

    pub(super) fn new(schema: Schema<'a>, is_default: bool) -> Self {
        let type_ = schema.string("type");
        let format = schema.string("format");
        if is_default {
            return Self { types: Some(type_).filter(|type_| !type_.is_empty()).into_iter().collect(), format };
        }
        let types = match type_ {
            _ if schema.is_int_or_string() => vec!["integer", "string"],
            "" => Vec::new(),
            type_ => vec![type_],
        };
        let format = if format::is_supported_for(type_of_format(&types), format) { format } else { "" };
        Self { types, format }
    }
}

/// Returns the type that determines the supported formats: the only one.
fn type_of_format<'a>(types: &[&'a str]) -> &'a str {
    match types {
        [only] => only,
        _ => "",
    }
}
