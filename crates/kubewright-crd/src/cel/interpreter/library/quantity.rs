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
        (_, [Value::Quantity(one), Value::Quantity(two)]) => return binary(function, *one, *two),
        ("add" | "sub", [Value::Quantity(one), Value::Int(number)]) => {
            return binary(function, *one, Quantity::from_integer(*number));
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

fn binary<'a>(function: &str, one: Quantity, two: Quantity) -> Option<EvalResult<Value<'a>>> {
    Some(Ok(match function {
        "isGreaterThan" => Value::Bool(one > two),
        "isLessThan" => Value::Bool(one < two),
        "compareTo" => Value::Int(match one.nanos().cmp(&two.nanos()) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }),
        "add" => Value::Quantity(one.add(two, 1)),
        "sub" => Value::Quantity(one.add(two, -1)),
        _ => return None,
    }))
}
