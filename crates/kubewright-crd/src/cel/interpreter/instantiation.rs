//! Program instantiation: cel-go folds conversions of constants and compiles literal patterns before a rule runs.

use super::{
    library,
    value::{EvalError, Value},
};
use crate::cel::{
    formats::regex,
    syntax::{Call, Expr, ExprKind, Literal},
};

/// The conversions that cel-go evaluates if their argument is constant.
const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

/// Checks that a program can be created for an expression.
///
/// # Errors
///
/// The conversion of a constant fails, or a literal pattern is invalid.
pub(crate) fn instantiate(expr: &Expr) -> Result<(), String> {
    for child in expr.children() {
        instantiate(child)?;
    }
    constant(expr).transpose()?;
    let ExprKind::Call(call) = &expr.kind else { return Ok(()) };
    let pattern = match (call.function.as_str(), call.target.is_some(), call.args.as_slice()) {
        ("matches", false, [_, pattern]) | ("matches" | "find", true, [pattern]) | ("findAll", true, [pattern, ..]) => {
            pattern
        }
        _ => return Ok(()),
    };
    match &pattern.kind {
        ExprKind::Literal(Literal::String(text)) => regex::compile(text).map(|_| ()),
        _ => Ok(()),
    }
}

/// The value of a literal or of nested conversions of one.
fn constant(expr: &Expr) -> Option<Result<Value<'static>, String>> {
    match &expr.kind {
        ExprKind::Literal(literal) => Some(Ok(Value::from_literal(literal))),
        ExprKind::Call(Call { function, target: None, args }) if CONVERSIONS.contains(&function.as_str()) => {
            let value = constant(args.first().filter(|_| args.len() == 1)?)?;
            Some(value.and_then(|value| library::call(function, false, &[value]).map_err(|EvalError(error)| error)))
        }
        _ => None,
    }
}
