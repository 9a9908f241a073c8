//! Quantities in CEL.

use std::cmp::Ordering;

use crate::cel::value::{Failure, Outcome, Value};
use crate::quantity::Quantity;

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    Some(match (function, args) {
        ("quantity", [Value::String(text)]) => Quantity::parse(text).map(Value::Quantity).ok_or_else(|| {
            Failure::new("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
        }),
        ("isQuantity", [Value::String(text)]) => Ok(Value::Bool(Quantity::parse(text).is_some())),
        (_, [Value::Quantity(quantity)]) => return of_one(function, *quantity),
        (_, [Value::Quantity(one), Value::Quantity(two)]) => return of_two(function, *one, *two),
        ("add" | "sub", [Value::Quantity(one), Value::Int(number)]) => {
            return of_two(function, *one, Quantity::whole(*number));
        }
        _ => return None,
    })
}

fn of_one<'a>(function: &str, quantity: Quantity) -> Option<Outcome<Value<'a>>> {
    let integer = quantity.integer();
    Some(Ok(match function {
        "sign" => Value::Int(i64::try_from(quantity.nanos().signum()).unwrap_or_default()),
        "isInteger" => Value::Bool(integer.is_some()),
        "asInteger" => match integer {
            Some(integer) => Value::Int(integer),
            None => return Some(Err(Failure::new("cannot convert value to integer"))),
        },
        "asApproximateFloat" => Value::Double(quantity.approximately()),
        _ => return None,
    }))
}

fn of_two<'a>(function: &str, one: Quantity, two: Quantity) -> Option<Outcome<Value<'a>>> {
    Some(Ok(match function {
        "isGreaterThan" => Value::Bool(one > two),
        "isLessThan" => Value::Bool(one < two),
        "compareTo" => Value::Int(match one.nanos().cmp(&two.nanos()) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }),
        "add" => Value::Quantity(one.plus(two, 1)),
        "sub" => Value::Quantity(one.plus(two, -1)),
        _ => return None,
    }))
}
