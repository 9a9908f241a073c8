//! Evaluation of checked expressions: values, the function library, the actual cost, and program instantiation.

mod evaluator;
mod instantiation;
mod library;
mod runtime_cost;
mod value;

pub(crate) use evaluator::evaluate;
pub(crate) use instantiation::instantiate;
pub(crate) use value::{EvalError, EvalResult, Value};
