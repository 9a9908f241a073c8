//! The rules of `x-kubernetes-validations` in the Common Expression Language (CEL).
//!
//! [`check_schema`] reports what kube-apiserver 1.36 would reject in the rules of a CRD, with its messages: syntax and
//! type errors, and rules whose estimated cost exceeds the limits. [`Program`] runs the rules on objects as the server
//! does.
//!
//! The modules are layers; each uses only those to its left, which a test asserts: `syntax`, `schema`, `types`,
//! `formats`, `checker`, `cost`, `interpreter`, `validation`.

mod checker;
mod cost;
mod formats;
mod interpreter;
mod schema;
mod syntax;
mod types;
mod validation;

#[cfg(test)]
mod layers;

pub use logger_names::cel::escape;
pub use validation::{
    Program, RuleError, RuleErrorReason, RuleField, Segment, Violation, ViolationReason, check_schema, report_at,
};
