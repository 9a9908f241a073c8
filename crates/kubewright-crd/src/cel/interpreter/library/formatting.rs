//! The function `string.format` (`ext/formatting.go` of cel-go).

use super::conversions;
use crate::cel::{
    formats::format_string::{self, Clause, FormatError},
    interpreter::value::{EvalError, EvalResult, List, MAX_STRING_LENGTH, Map, Value},
};

pub(super) fn format<'a>(text: &str, args: &List<'a>) -> EvalResult<Value<'a>> {
    let args = args.values()?;
    let mut limit = Limit { remaining: MAX_STRING_LENGTH };
    let formatted =
        format_string::format(text, args.len(), |clause, index| format_clause(clause, &args[index], &mut limit));
    formatted.map(Value::string).map_err(|error| match error {
        FormatError::Syntax(message) => EvalError(message),
        FormatError::Clause(error) if error == EvalError::cost_limit_exceeded() => error,
        FormatError::Clause(EvalError(message)) => EvalError(format!("error during formatting: {message}")),
    })
}

/// Limits the length of the result: the cost of a call does not depend on it, and a list can contain another one many
/// times.
struct Limit {
    remaining: usize,
}

impl Limit {
    fn charge(&mut self, length: usize) -> EvalResult<()> {
        self.remaining = self.remaining.checked_sub(length).ok_or_else(EvalError::cost_limit_exceeded)?;
        Ok(())
    }
}

fn format_clause(clause: Clause, value: &Value<'_>, limit: &mut Limit) -> EvalResult<String> {
    let unsupported = || Err(EvalError::new(clause.unsupported_type(value.type_name())));
    Ok(match (clause, value) {
        (Clause::String, _) => return format_value(value, clause, limit),
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
            limit.charge(hex.len())?;
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

fn format_value(value: &Value<'_>, clause: Clause, limit: &mut Limit) -> EvalResult<String> {
    limit.charge(1)?;
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::List(list) => {
            let items =
                list.iter().map(|item| format_element(&item?, clause, limit)).collect::<EvalResult<Vec<_>>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => format_map(map, clause, limit)?,
        Value::Ip(_) | Value::Cidr(_) => return Err(EvalError::new(clause.unsupported_type(value.type_name()))),
        other => {
            let text = conversions::to_string(other)
                .map_err(|_| EvalError::new(clause.unsupported_type(value.type_name())))?;
            limit.charge(text.len())?;
            text
        }
    })
}

fn format_map(map: &Map<'_>, clause: Clause, limit: &mut Limit) -> EvalResult<String> {
    let mut entries = Vec::with_capacity(map.len());
    for key in map.keys() {
        let value = map.get(&key)?.unwrap_or(Value::Null);
        let key = format_element(&key, clause, limit)?;
        entries.push(format!("{key}:{}", format_element(&value, clause, limit)?));
    }
    entries.sort();
    Ok(format!("{{{}}}", entries.join(", ")))
}

/// Formats an element of a list or map: strings and bytes are quoted.
fn format_element(value: &Value<'_>, clause: Clause, limit: &mut Limit) -> EvalResult<String> {
    let formatted = format_value(value, clause, limit)?;
    Ok(match value {
        Value::String(_) => format!("{formatted:?}"),
        Value::Bytes(_) => format!("b{formatted:?}"),
        _ => formatted,
    })
}
