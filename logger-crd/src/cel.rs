//! The rules of `x-kubernetes-validations`: parsed, typed against the schema, their cost estimated, and run.
//!
//! [`check_schema`] says what kube-apiserver 1.36 would refuse in a definition, in its words; [`Program`] runs a schema's
//! rules on values as it does.

mod call_cost;
mod checker;
mod compile;
mod cost;
mod declared;
mod escape;
mod estimate;
mod eval;
mod field_path;
mod finding;
mod functions;
mod lexer;
mod library;
mod literal;
mod literals;
mod macros;
mod parser;
mod program;
mod rules;
mod run_cost;
mod schema;
mod syntax;
mod types;
mod value;
mod violation;

pub use escape::escape;
pub use finding::{FindingReason, Part, RuleFinding, Segment};
pub use program::Program;
pub use rules::check_schema;
pub use violation::{Violation, ViolationReason};
