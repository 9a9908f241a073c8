//! The rules of `x-kubernetes-validations` in the Common Expression Language (CEL).
//!
//! [`check_schema`] reports what kube-apiserver 1.36 would reject in the rules of a CRD, with its messages: syntax and
//! type errors, and rules whose estimated cost exceeds the limits. [`Program`] runs the rules on objects as the server
//! does. [`policy`](crate::policy) has the expressions of admission policies.
//!
//! The modules are layers; each uses only those to its left, which a test asserts: `syntax`, `schema`, `types`,
//! `formats`, `checker`, `cost`, `interpreter`, `validation`, `policy`.

mod checker;
mod cost;
mod formats;
mod interpreter;
pub(crate) mod policy;
mod schema;
mod syntax;
mod types;
mod validation;

#[cfg(test)]
mod layers;

pub use interpreter::{AccessDecision, AccessRequest, AccessSubject, AccessTarget, Authorizer, ResourceTarget};
pub(crate) use interpreter::{Message, Value, check_message_names, to_json};
pub use kubewright_names::cel::escape;
pub(crate) use schema::Structural;
pub(crate) use validation::CompilationError;
pub use validation::{
    Program, RuleError, RuleErrorReason, RuleField, Segment, Violation, ViolationReason, check_schema, report_at,
};
