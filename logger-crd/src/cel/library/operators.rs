//! Operators: equality, order, arithmetic, membership.

use std::cmp::Ordering;

use super::time;
use crate::cel::{
    eval,
    syntax::operator,
    value::{Failure, Map, Outcome, Value},
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    Some(match (function, args) {
        (operator::NOT, [Value::Bool(flag)]) => Ok(Value::Bool(!flag)),
        (operator::NEGATE, [value]) => negate(value),
        (operator::EQUALS, [left, right]) => left.equals(right).map(Value::Bool),
        (operator::NOT_EQUALS, [left, right]) => left.equals(right).map(|same| Value::Bool(!same)),
        (operator::LESS, [left, right]) => ordered(left, right, Ordering::is_lt),
        (operator::LESS_EQUALS, [left, right]) => ordered(left, right, Ordering::is_le),
        (operator::GREATER, [left, right]) => ordered(left, right, Ordering::is_gt),
        (operator::GREATER_EQUALS, [left, right]) => ordered(left, right, Ordering::is_ge),
        (operator::ADD, [left, right]) => add(left, right),
        (operator::SUBTRACT, [left, right]) => subtract(left, right),
        (operator::MULTIPLY, [left, right]) => multiply(left, right),
        (operator::DIVIDE, [left, right]) => divide(left, right),
        (operator::MODULO, [left, right]) => modulo(left, right),
        (operator::IN, [value, Value::List(list)]) => list.contains(value).map(Value::Bool),
        (operator::IN, [key, Value::Map(map)]) => map.get(key).map(|found| Value::Bool(found.is_some())),
        (operator::MAP_INSERT, [Value::Map(map), key, value]) => {
            entries(map).and_then(|entries| eval::insert(entries, key.clone(), Some(value.clone()))).map(Value::map)
        }
        (operator::MAP_INSERT, [Value::Map(map), Value::Map(more)]) => entries(map)
            .and_then(|so_far| {
                let mut so_far = so_far;
                for (key, value) in entries(more)? {
                    so_far = eval::insert(so_far, key, Some(value))?;
                }
                Ok(so_far)
            })
            .map(Value::map),
        _ => return None,
    })
}

fn entries<'a>(map: &Map<'a>) -> Outcome<Vec<(Value<'a>, Value<'a>)>> {
    let value = |key: &Value<'a>| map.get(key)?.ok_or_else(Failure::no_such_overload);
    map.keys().into_iter().map(|key| Ok((key.clone(), value(&key)?))).collect()
}

fn ordered<'a>(left: &Value<'a>, right: &Value<'a>, holds: fn(Ordering) -> bool) -> Outcome<Value<'a>> {
    left.compare(right).map(|order| Value::Bool(holds(order)))
}

fn int<'a>(result: Option<i64>) -> Outcome<Value<'a>> {
    result.map(Value::Int).ok_or_else(|| Failure::new("integer overflow"))
}

fn uint<'a>(result: Option<u64>) -> Outcome<Value<'a>> {
    result.map(Value::Uint).ok_or_else(|| Failure::new("unsigned integer overflow"))
}

fn duration<'a>(result: Option<i64>) -> Outcome<Value<'a>> {
    result.map(Value::Duration).ok_or_else(|| Failure::new("duration overflow"))
}

fn later<'a>(time: i128, nanos: i64) -> Outcome<Value<'a>> {
    time::in_range(time + i128::from(nanos)).map(Value::Timestamp).ok_or_else(|| Failure::new("timestamp overflow"))
}

fn negate<'a>(value: &Value<'a>) -> Outcome<Value<'a>> {
    match value {
        Value::Int(number) => int(number.checked_neg()),
        Value::Double(number) => Ok(Value::Double(-number)),
        Value::Duration(nanos) => duration(nanos.checked_neg()),
        _ => Err(Failure::no_such_overload()),
    }
}

fn add<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<Value<'a>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_add(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_add(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left + right)),
        (Value::String(left), Value::String(right)) => Ok(Value::text(format!("{left}{right}"))),
        (Value::Bytes(left), Value::Bytes(right)) => Ok(Value::Bytes([&**left, &**right].concat().into())),
        (Value::List(left), Value::List(right)) => left.plus(right),
        (Value::Duration(left), Value::Duration(right)) => duration(left.checked_add(*right)),
        (Value::Timestamp(time), Value::Duration(nanos)) | (Value::Duration(nanos), Value::Timestamp(time)) => {
            later(*time, *nanos)
        }
        _ => Err(Failure::no_such_overload()),
    }
}

fn subtract<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<Value<'a>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_sub(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_sub(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left - right)),
        (Value::Duration(left), Value::Duration(right)) => duration(left.checked_sub(*right)),
        (Value::Timestamp(time), Value::Duration(nanos)) => {
            nanos.checked_neg().map_or_else(|| duration(None), |nanos| later(*time, nanos))
        }
        (Value::Timestamp(left), Value::Timestamp(right)) => duration(i64::try_from(left - right).ok()),
        _ => Err(Failure::no_such_overload()),
    }
}

fn multiply<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<Value<'a>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_mul(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_mul(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left * right)),
        _ => Err(Failure::no_such_overload()),
    }
}

fn divide<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<Value<'a>> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(Failure::new("division by zero")),
        (Value::Int(left), Value::Int(right)) => int(left.checked_div(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_div(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left / right)),
        _ => Err(Failure::no_such_overload()),
    }
}

fn modulo<'a>(left: &Value<'a>, right: &Value<'a>) -> Outcome<Value<'a>> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(Failure::new("modulus by zero")),
        (Value::Int(left), Value::Int(right)) => int(left.checked_rem(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_rem(*right)),
        _ => Err(Failure::no_such_overload()),
    }
}
