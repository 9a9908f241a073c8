//! What the functions of the libraries do.

pub(super) mod formatting;
pub(super) mod named_format;
pub(super) mod pattern;
pub(super) mod time;
