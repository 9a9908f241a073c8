//! What the functions of the libraries do.

use super::value::{Failure, Outcome, Value};

pub(super) mod base64;
mod convert;
pub(super) mod formatting;
pub(super) mod ip;
mod lists;
pub(super) mod named_format;
mod operators;
mod optional;
pub(super) mod pattern;
pub(super) mod quantity;
mod strings;
pub(super) mod time;
pub(super) mod url;
mod version;

/// The value of a call, the target first among `args` if there is one.
pub(super) fn call<'a>(function: &str, is_member: bool, args: &[Value<'a>]) -> Outcome<Value<'a>> {
    operators::call(function, args)
        .or_else(|| if is_member { None } else { convert::call(function, args) })
        .or_else(|| strings::call(function, args))
        .or_else(|| lists::call(function, args))
        .or_else(|| optional::call(function, args))
        .or_else(|| time::call(function, args))
        .or_else(|| ip::call(function, args))
        .or_else(|| url::call(function, args))
        .or_else(|| quantity::call(function, args))
        .or_else(|| version::call(function, args))
        .or_else(|| named_format::call(function, args))
        .unwrap_or_else(|| Err(unfit(function, args)))
}

/// What is said of arguments a function does not take; only an untyped value can be one.
fn unfit(function: &str, args: &[Value<'_>]) -> Failure {
    match function {
        "size" => Failure::new("no such overload: size"),
        operator if operator.contains('_') => Failure::no_such_overload(),
        _ => {
            let types: Vec<&str> = args.iter().map(Value::type_name).collect();
            Failure::new(format!("no such overload: {function}({})", types.join(", ")))
        }
    }
}
