//! Evaluation of checked expressions: values, the function library, the actual cost, program instantiation, and the
//! JSON of results.

mod access;
mod evaluator;
mod instantiation;
mod json;
mod library;
mod runtime_cost;
mod value;

pub use access::{AccessDecision, AccessRequest, AccessSubject, AccessTarget, Authorizer, ResourceTarget};
pub(crate) use access::{AccessValue, Principal};
pub(crate) use evaluator::{Activation, evaluate, evaluate_in};
pub(crate) use instantiation::instantiate;
pub(crate) use json::{check_message_names, to_json};
pub(crate) use value::{EvalError, EvalResult, Message, Value};
