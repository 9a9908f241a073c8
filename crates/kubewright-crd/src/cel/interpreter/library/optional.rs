//! Functions of optional values.

use crate::cel::interpreter::value::{EvalError, EvalResult, List, Value};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    Some(match (function, args) {
        ("optional.none", []) => Ok(Value::Optional(None)),
        ("optional.of", [value]) => Ok(Value::some(value.clone())),
        ("optional.ofNonZeroValue", [value]) if value.is_zero() => Ok(Value::Optional(None)),
        ("optional.ofNonZeroValue", [value]) => Ok(Value::some(value.clone())),
        ("hasValue", [Value::Optional(inner)]) => Ok(Value::Bool(inner.is_some())),
        ("value", [Value::Optional(inner)]) => {
            inner.as_deref().cloned().ok_or_else(|| EvalError::new("optional.none() dereference"))
        }
        ("optional.unwrap" | "unwrapOpt", [Value::List(list)]) => unwrap(list),
        _ => return None,
    })
}

fn unwrap<'a>(list: &List<'a>) -> EvalResult<Value<'a>> {
    let mut present = Vec::with_capacity(list.len());
    for item in list.iter() {
        match item? {
            Value::Optional(inner) => present.extend(inner.as_deref().cloned()),
            other => return Err(EvalError::new(format!("value {other} is not optional"))),
        }
    }
    Ok(Value::list(present))
}
