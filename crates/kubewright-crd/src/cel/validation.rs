//! Validation rules of a schema: compiled and checked with the CRD, and run on its objects.

mod compilation;
mod node_validator;
mod program;
mod rule_error;
mod rules;
mod violation;

pub(crate) use compilation::CompilationError;
pub use program::Program;
pub use rule_error::{RuleError, RuleErrorReason, RuleField, Segment};
pub use rules::{check_schema, report_at};
pub use violation::{Violation, ViolationReason};
