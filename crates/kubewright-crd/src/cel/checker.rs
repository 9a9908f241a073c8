//! Type checking: function declarations, overload resolution, and the validators of literals.

mod check;
mod functions;
mod suggestion;
mod validators;

pub(crate) use check::{CheckedExpr, Declarations, FindMessage, check};
pub(crate) use validators::validate_literals;
