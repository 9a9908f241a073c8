//! The function library: the standard functions, the extensions of cel-go, and the Kubernetes libraries.

use super::value::{EvalError, EvalResult, Value};

mod access;
mod conversions;
mod formatting;
mod ip;
mod lists;
mod named_format;
mod operators;
mod optional;
mod quantity;
mod semver;
mod strings;
mod time;
mod url;

/// Evaluates a call. The first argument of a member call is its target.
pub(crate) fn call<'a>(function: &str, is_member: bool, args: &[Value<'a>]) -> EvalResult<Value<'a>> {
    operators::call(function, args)
        .or_else(|| if is_member { None } else { conversions::call(function, args) })
        .or_else(|| strings::call(function, args))
        .or_else(|| lists::call(function, args))
        .or_else(|| optional::call(function, args))
        .or_else(|| time::call(function, args))
        .or_else(|| ip::call(function, args))
        .or_else(|| url::call(function, args))
        .or_else(|| quantity::call(function, args))
        .or_else(|| semver::call(function, args))
        .or_else(|| named_format::call(function, args))
        .or_else(|| access::call(function, args))
        .unwrap_or_else(|| Err(no_such_overload(function, args)))
}

/// The error for arguments that match no overload. The checker allows them only for values of type `dyn`.
fn no_such_overload(function: &str, args: &[Value<'_>]) -> EvalError {
    match function {
        "size" => EvalError::new("no such overload: size"),
        operator if operator.contains('_') => EvalError::no_such_overload(),
        _ => {
            let types: Vec<&str> = args.iter().map(Value::type_name).collect();
            EvalError::new(format!("no such overload: {function}({})", types.join(", ")))
        }
    }
}
