//! The function `string.format` (`ext/formatting.go` of cel-go).

use super::conversions;
use crate::cel::{
    formats::format_string::{self, Clause, FormatError},
    interpreter::value::{EvalError, EvalResult, List, Map, Value},
};

pub(super) fn format<'a>(text: &str, args: &List<'a>) -> EvalResult<Value<'a>> {
    let args = args.values()?;
    let formatted = format_string::format(text, args.len(), |clause, index| format_clause(clause, &args[index]));
    formatted.map(Value::string).map_err(|error| match error {
        FormatError::Syntax(message) => EvalError(message),
        FormatError::Clause(EvalError(message)) => EvalError(format!("error during formatting: {message}")),
    })
}

fn format_clause(clause: Clause, value: &Value<'_>) -> EvalResult<String> {
    let unsupported = || Err(EvalError::new(clause.unsupported_type(value.type_name())));
    Ok(match (clause, value) {
        (Clause::String, _) => return format_value(value, clause),
        (Clause::Decimal, Value::Int(number)) => number.to_string(),
        (Clause::Decimal, Value::Uint(number)) => number.to_string(),
        (Clause::Fixed(digits), Value::Double(number)) if number.is_finite() => grouped(&format!("{number:.digits$}")),
        // The precision has no effect: the server uses it as the width.
        (Clause::Scientific(_), Value::Double(number)) if number.is_finite() => scientific(*number),
        (Clause::Fixed(_) | Clause::Scientific(_), Value::Double(number)) => format_non_finite(*number).to_owned(),
        (Clause::Fixed(_) | Clause::Scientific(_), Value::String(text)) => match &**text {
            "NaN" => "NaN".to_owned(),
            "Infinity" => "∞".to_owned(),
            "-Infinity" => "-∞".to_owned(),
            _ => return unsupported(),
        },
        (Clause::Binary, Value::Int(number)) => signed(*number, format!("{:b}", number.unsigned_abs())),
        (Clause::Binary, Value::Uint(number)) => format!("{number:b}"),
        (Clause::Binary, Value::Bool(flag)) => u8::from(*flag).to_string(),
        (Clause::Octal, Value::Int(number)) => signed(*number, format!("{:o}", number.unsigned_abs())),
        (Clause::Octal, Value::Uint(number)) => format!("{number:o}"),
        (Clause::Hex { upper }, value) => {
            let hex = match value {
                Value::Int(number) => signed(*number, format!("{:x}", number.unsigned_abs())),
                Value::Uint(number) => format!("{number:x}"),
                Value::String(text) => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
                Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
                _ => return unsupported(),
            };
            if upper { hex.to_uppercase() } else { hex }
        }
        _ => return unsupported(),
    })
}

fn signed(number: i64, digits: String) -> String {
    if number < 0 { format!("-{digits}") } else { digits }
}

fn format_non_finite(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "∞",
        f64::NEG_INFINITY => "-∞",
        _ => "NaN",
    }
}

/// Adds thousands separators, as in the server's locale.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (integer, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = String::from(sign);
    for (at, digit) in integer.chars().enumerate() {
        if at > 0 && (integer.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Formats a number as in `1.500000×10⁰³`.
fn scientific(number: f64) -> String {
    let formatted = format!("{number:.6e}");
    let (mantissa, exponent) = formatted.split_once('e').unwrap_or((&formatted, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits: String = format!("{:02}", exponent.abs())
        .bytes()
        .map(|digit| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][usize::from(digit - b'0')])
        .collect();
    let sign = if exponent < 0 { "⁻" } else { "" };
    format!("{mantissa}×10{sign}{digits}")
}

fn format_value(value: &Value<'_>, clause: Clause) -> EvalResult<String> {
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::List(list) => {
            let items = list.iter().map(|item| format_element(&item?, clause)).collect::<EvalResult<Vec<_>>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => format_map(map, clause)?,
        Value::Ip(_) | Value::Cidr(_) => return Err(EvalError::new(clause.unsupported_type(value.type_name()))),
        other => {
            conversions::to_string(other).map_err(|_| EvalError::new(clause.unsupported_type(value.type_name())))?
        }
    })
}

fn format_map(map: &Map<'_>, clause: Clause) -> EvalResult<String> {
    let mut entries = Vec::with_capacity(map.len());
    for key in map.keys() {
        let value = map.get(&key)?.unwrap_or(Value::Null);
        entries.push(format!("{}:{}", format_element(&key, clause)?, format_element(&value, clause)?));
    }
    entries.sort();
    Ok(format!("{{{}}}", entries.join(", ")))
}

/// Formats an element of a list or map: strings and bytes are quoted.
fn format_element(value: &Value<'_>, clause: Clause) -> EvalResult<String> {
    let formatted = format_value(value, clause)?;
    Ok(match value {
        Value::String(_) => format!("{formatted:?}"),
        Value::Bytes(_) => format!("b{formatted:?}"),
        _ => formatted,
    })
}
