//! Operators: equality, order, arithmetic, membership.

use std::cmp::Ordering;

use crate::cel::{
    formats::time,
    interpreter::value::{EvalError, EvalResult, Map, MapEntry, Value, insert_entry},
    syntax::operator,
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
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
            map.entries().and_then(|entries| insert_entry(entries, key.clone(), value.clone())).map(Value::map)
        }
        (operator::MAP_INSERT, [Value::Map(map), Value::Map(inserted)]) => insert_map(map, inserted).map(Value::map),
        _ => return None,
    })
}

fn insert_map<'a>(map: &Map<'a>, inserted: &Map<'a>) -> EvalResult<Vec<MapEntry<'a>>> {
    inserted.entries()?.into_iter().try_fold(map.entries()?, |entries, (key, value)| insert_entry(entries, key, value))
}

fn ordered<'a>(left: &Value<'a>, right: &Value<'a>, holds: fn(Ordering) -> bool) -> EvalResult<Value<'a>> {
    left.compare(right).map(|order| Value::Bool(holds(order)))
}

fn int<'a>(result: Option<i64>) -> EvalResult<Value<'a>> {
    result.map(Value::Int).ok_or_else(|| EvalError::new("integer overflow"))
}

fn uint<'a>(result: Option<u64>) -> EvalResult<Value<'a>> {
    result.map(Value::Uint).ok_or_else(|| EvalError::new("unsigned integer overflow"))
}

fn duration<'a>(result: Option<i64>) -> EvalResult<Value<'a>> {
    result.map(Value::Duration).ok_or_else(|| EvalError::new("duration overflow"))
}

fn timestamp_plus<'a>(time: i128, nanos: i64) -> EvalResult<Value<'a>> {
    time::check_timestamp_range(time + i128::from(nanos))
        .map(Value::Timestamp)
        .ok_or_else(|| EvalError::new("timestamp overflow"))
}

fn negate<'a>(value: &Value<'a>) -> EvalResult<Value<'a>> {
    match value {
        Value::Int(number) => int(number.checked_neg()),
        Value::Double(number) => Ok(Value::Double(-number)),
        Value::Duration(nanos) => duration(nanos.checked_neg()),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn add<'a>(left: &Value<'a>, right: &Value<'a>) -> EvalResult<Value<'a>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_add(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_add(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left + right)),
        (Value::String(left), Value::String(right)) => Ok(Value::string(format!("{left}{right}"))),
        (Value::Bytes(left), Value::Bytes(right)) => Ok(Value::Bytes([&**left, &**right].concat().into())),
        (Value::List(left), Value::List(right)) => left.add(right),
        (Value::Duration(left), Value::Duration(right)) => duration(left.checked_add(*right)),
        (Value::Timestamp(time), Value::Duration(nanos)) | (Value::Duration(nanos), Value::Timestamp(time)) => {
            timestamp_plus(*time, *nanos)
        }
        _ => Err(EvalError::no_such_overload()),
    }
}

fn subtract<'a>(left: &Value<'a>, right: &Value<'a>) -> EvalResult<Value<'a>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_sub(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_sub(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left - right)),
        (Value::Duration(left), Value::Duration(right)) => duration(left.checked_sub(*right)),
        (Value::Timestamp(time), Value::Duration(nanos)) => {
            nanos.checked_neg().map_or_else(|| duration(None), |nanos| timestamp_plus(*time, nanos))
        }
        (Value::Timestamp(left), Value::Timestamp(right)) => duration(i64::try_from(left - right).ok()),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn multiply<'a>(left: &Value<'a>, right: &Value<'a>) -> EvalResult<Value<'a>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_mul(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_mul(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left * right)),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn divide<'a>(left: &Value<'a>, right: &Value<'a>) -> EvalResult<Value<'a>> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(EvalError::new("division by zero")),
        (Value::Int(left), Value::Int(right)) => int(left.checked_div(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_div(*right)),
        (Value::Double(left), Value::Double(right)) => Ok(Value::Double(left / right)),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn modulo<'a>(left: &Value<'a>, right: &Value<'a>) -> EvalResult<Value<'a>> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(EvalError::new("modulus by zero")),
        (Value::Int(left), Value::Int(right)) => int(left.checked_rem(*right)),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_rem(*right)),
        _ => Err(EvalError::no_such_overload()),
    }
}
