//! Functions of quantities.

use std::cmp::Ordering;

use crate::{
    cel::interpreter::value::{EvalError, EvalResult, Value},
    quantity::Quantity,
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    Some(match (function, args) {
        ("quantity", [Value::String(text)]) => Quantity::parse(text).map(Value::Quantity).ok_or_else(|| {
            EvalError::new(
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            )
        }),
        ("isQuantity", [Value::String(text)]) => Ok(Value::Bool(Quantity::parse(text).is_some())),
        (_, [Value::Quantity(quantity)]) => return unary(function, *quantity),
        (_, [Value::Quantity(left), Value::Quantity(right)]) => return binary(function, *left, *right),
        ("add" | "sub", [Value::Quantity(quantity), Value::Int(number)]) => {
            return binary(function, *quantity, Quantity::from_integer(*number));
        }
        _ => return None,
    })
}

fn unary<'a>(function: &str, quantity: Quantity) -> Option<EvalResult<Value<'a>>> {
    let integer = quantity.as_integer();
    Some(Ok(match function {
        "sign" => Value::Int(i64::try_from(quantity.nanos().signum()).unwrap_or_default()),
        "isInteger" => Value::Bool(integer.is_some()),
        "asInteger" => match integer {
            Some(integer) => Value::Int(integer),
            None => return Some(Err(EvalError::new("cannot convert value to integer"))),
        },
        "asApproximateFloat" => Value::Double(quantity.as_approximate_float()),
        _ => return None,
    }))
}

fn binary<'a>(function: &str, left: Quantity, right: Quantity) -> Option<EvalResult<Value<'a>>> {
    Some(Ok(match function {
        "isGreaterThan" => Value::Bool(left > right),
        "isLessThan" => Value::Bool(left < right),
        "compareTo" => Value::Int(match left.nanos().cmp(&right.nanos()) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }),
        "add" => Value::Quantity(left.add(right, 1)),
        "sub" => Value::Quantity(left.add(right, -1)),
        _ => return None,
    }))
}
