//! Expressions of admission policies: the variables and types of their environment, their compilation and evaluation.

mod environment;
mod evaluation;
mod expression;
mod object_types;
mod request_types;

pub(crate) use environment::{Environment, ExpressionKind};
pub(crate) use evaluation::{Evaluation, Inputs, OutOfBudget};
pub(crate) use expression::Expression;
pub(crate) use object_types::ObjectTypes;
