//! Type conversions.

use crate::cel::{
    formats::time,
    interpreter::value::{EvalError, EvalResult, Value},
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    let [value] = args else { return None };
    Some(match function {
        "dyn" => Ok(value.clone()),
        "type" => Ok(Value::Type(value.type_name())),
        "bool" => to_bool(value),
        "int" => to_int(value),
        "uint" => to_uint(value),
        "double" => to_double(value),
        "string" => to_string(value).map(Value::string),
        "bytes" => to_bytes(value),
        "duration" => to_duration(value),
        "timestamp" => to_timestamp(value),
        _ => return None,
    })
}

fn conversion_error(from: &Value<'_>, to: &str) -> EvalError {
    EvalError::new(format!("type conversion error from '{}' to '{to}'", from.type_name()))
}

fn to_bool<'a>(value: &Value<'a>) -> EvalResult<Value<'a>> {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => match &**text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
            _ => Err(conversion_error(value, "bool")),
        },
        _ => Err(conversion_error(value, "bool")),
    }
}

fn to_int<'a>(value: &Value<'a>) -> EvalResult<Value<'a>> {
    let overflow = || EvalError::new("integer overflow");
    match value {
        Value::Int(_) => Ok(value.clone()),
        Value::Uint(number) => i64::try_from(*number).map(Value::Int).map_err(|_| overflow()),
        Value::Double(number) if number.abs() < 9_223_372_036_854_775_808.0 => Ok(Value::Int(*number as i64)),
        Value::Double(_) => Err(overflow()),
        Value::Duration(nanos) => Ok(Value::Int(*nanos)),
        Value::Timestamp(time) => Ok(Value::Int(time::unix_seconds(*time))),
        Value::String(text) => text.parse().map(Value::Int).map_err(|_| conversion_error(value, "int")),
        _ => Err(conversion_error(value, "int")),
    }
}

fn to_uint<'a>(value: &Value<'a>) -> EvalResult<Value<'a>> {
    let overflow = || EvalError::new("unsigned integer overflow");
    match value {
        Value::Uint(_) => Ok(value.clone()),
        Value::Int(number) => u64::try_from(*number).map(Value::Uint).map_err(|_| overflow()),
        Value::Double(number) if (0.0..18_446_744_073_709_551_616.0).contains(number) => {
            Ok(Value::Uint(*number as u64))
        }
        Value::Double(_) => Err(overflow()),
        Value::String(text) if !text.starts_with('+') => {
            text.parse().map(Value::Uint).map_err(|_| conversion_error(value, "uint"))
        }
        _ => Err(conversion_error(value, "uint")),
    }
}

fn to_double<'a>(value: &Value<'a>) -> EvalResult<Value<'a>> {
    match value {
        Value::Double(_) => Ok(value.clone()),
        Value::Int(number) => Ok(Value::Double(*number as f64)),
        Value::Uint(number) => Ok(Value::Double(*number as f64)),
        Value::String(text) => text.parse().map(Value::Double).map_err(|_| conversion_error(value, "double")),
        _ => Err(conversion_error(value, "double")),
    }
}

/// Converts a value to text, as `string` and `%s` do.
pub(crate) fn to_string(value: &Value<'_>) -> EvalResult<String> {
    Ok(match value {
        Value::String(text) => text.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => format_double(*number),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|_| EvalError::new("invalid UTF-8 in bytes, cannot convert to string"))?,
        Value::Duration(nanos) => time::format_duration(*nanos),
        Value::Timestamp(time) => time::format_timestamp(*time),
        Value::Type(name) => (*name).to_owned(),
        Value::Ip(address) => address.to_string(),
        Value::Cidr(cidr) => cidr.to_string(),
        _ => return Err(conversion_error(value, "string")),
    })
}

/// Formats a number as Go's `%g` does: with an exponent if it is large or small.
fn format_double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn to_bytes<'a>(value: &Value<'a>) -> EvalResult<Value<'a>> {
    match value {
        Value::Bytes(_) => Ok(value.clone()),
        Value::String(text) => Ok(Value::Bytes(text.as_bytes().into())),
        _ => Err(conversion_error(value, "bytes")),
    }
}

fn to_duration<'a>(value: &Value<'a>) -> EvalResult<Value<'a>> {
    match value {
        Value::Duration(_) => Ok(value.clone()),
        Value::String(text) => time::parse_duration(text)
            .map(Value::Duration)
            .map_err(|_| conversion_error(value, "google.protobuf.Duration")),
        _ => Err(conversion_error(value, "google.protobuf.Duration")),
    }
}

fn to_timestamp<'a>(value: &Value<'a>) -> EvalResult<Value<'a>> {
    match value {
        Value::Timestamp(_) => Ok(value.clone()),
        Value::Int(seconds) => time::timestamp_from_seconds(*seconds)
            .map(Value::Timestamp)
            .map_err(|_| EvalError::new("timestamp overflow")),
        Value::String(text) => time::parse_timestamp(text)
            .map(Value::Timestamp)
            .map_err(|_| conversion_error(value, "google.protobuf.Timestamp")),
        _ => Err(conversion_error(value, "google.protobuf.Timestamp")),
    }
}
