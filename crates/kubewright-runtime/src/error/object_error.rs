//! The error of one object of a list or watch.

use super::user_code::UserCodePanicked;
use crate::object::ObjectKey;

/// The reason why one object of a list or watch cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The object cannot be decoded as its Rust type.
    #[error("cannot decode `{object}`{}: {message}", at_field(.field))]
    Decode {
        /// The object.
        object: ObjectKey,
        /// The path of the field, such as `spec.ports[0].port`; empty for the object itself.
        field: String,
        /// The message of the deserializer.
        message: String,
    },
    /// User code panicked for the object: its transform, or its implementation of `Deserialize`.
    #[error(transparent)]
    Panicked(#[from] UserCodePanicked),
}

fn at_field(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!(" at `{field}`") }
}
