//! Functions of strings, of patterns on them, and of what they are made of.

use std::rc::Rc;

use super::{
    convert,
    formatting::{self, Clause},
    pattern,
};
use crate::cel::value::{Failure, List, Map, Outcome, Value};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    let (Value::String(text), rest) = args.split_first()? else { return on_list(function, args) };
    Some(match (function, rest) {
        ("contains", [Value::String(part)]) => Ok(Value::Bool(text.contains(&**part))),
        ("startsWith", [Value::String(part)]) => Ok(Value::Bool(text.starts_with(&**part))),
        ("endsWith", [Value::String(part)]) => Ok(Value::Bool(text.ends_with(&**part))),
        ("matches", [Value::String(pattern)]) => {
            pattern::compile(pattern).map(|pattern| Value::Bool(pattern.is_match(text))).map_err(Failure)
        }
        ("find", [Value::String(pattern)]) => {
            regex(pattern).map(|pattern| Value::text(pattern.find(text).map_or("", |found| found.as_str())))
        }
        ("findAll", [Value::String(pattern)]) => find_all(text, pattern, -1),
        ("findAll", [Value::String(pattern), Value::Int(limit)]) => find_all(text, pattern, *limit),
        ("charAt", [Value::Int(at)]) => char_at(text, *at),
        ("indexOf", [Value::String(part)]) => index_of(text, part, 0),
        ("indexOf", [Value::String(part), Value::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [Value::String(part)]) => last_index_of(text, part, None),
        ("lastIndexOf", [Value::String(part), Value::Int(from)]) => last_index_of(text, part, Some(*from)),
        ("lowerAscii", []) => Ok(Value::text(text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Value::text(text.to_ascii_uppercase())),
        ("trim", []) => Ok(Value::text(text.trim())),
        ("replace", [Value::String(old), Value::String(new)]) => Ok(Value::text(text.replace(&**old, new))),
        ("replace", [Value::String(old), Value::String(new), Value::Int(count)]) => Ok(Value::text(
            usize::try_from(*count)
                .map_or_else(|_| text.replace(&**old, new), |count| text.replacen(&**old, new, count)),
        )),
        ("split", [Value::String(separator)]) => Ok(split(text, separator, -1)),
        ("split", [Value::String(separator), Value::Int(limit)]) => Ok(split(text, separator, *limit)),
        ("substring", [Value::Int(start)]) => substring(text, *start, None),
        ("substring", [Value::Int(start), Value::Int(end)]) => substring(text, *start, Some(*end)),
        ("strings.quote", []) => Ok(Value::text(quote(text))),
        ("format", [Value::List(args)]) => format(text, args),
        ("size", []) => Ok(Value::int(text.chars().count())),
        _ => return None,
    })
}

fn on_list<'a>(function: &str, args: &[Value<'a>]) -> Option<Outcome<Value<'a>>> {
    match (function, args) {
        ("join", [Value::List(list)]) => Some(join(list, "")),
        ("join", [Value::List(list), Value::String(separator)]) => Some(join(list, separator)),
        _ => None,
    }
}

fn regex(pattern: &str) -> Outcome<Rc<regex::Regex>> {
    pattern::compile(pattern).map_err(|error| Failure::new(format!("Illegal regex: {error}")))
}

fn find_all<'a>(text: &str, pattern: &str, limit: i64) -> Outcome<Value<'a>> {
    let pattern = regex(pattern)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Value::list(pattern.find_iter(text).take(limit).map(|found| Value::text(found.as_str())).collect()))
}

fn out_of_range(index: i64) -> Failure {
    Failure::new(format!("index out of range: {index}"))
}

fn char_at<'a>(text: &str, at: i64) -> Outcome<Value<'a>> {
    let chars: Vec<char> = text.chars().collect();
    match usize::try_from(at) {
        Ok(index) if index == chars.len() => Ok(Value::text("")),
        Ok(index) if index < chars.len() => Ok(Value::text(chars[index].to_string())),
        _ => Err(out_of_range(at)),
    }
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Outcome<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let (text, part): (Vec<char>, Vec<char>) = (text.chars().collect(), part.chars().collect());
    let from = usize::try_from(from).map_err(|_| out_of_range(from))?;
    let found = text.windows(part.len()).enumerate().skip(from).find(|(_, window)| *window == part);
    Ok(found.map_or(Value::Int(-1), |(index, _)| Value::int(index)))
}

fn last_index_of<'a>(text: &str, part: &str, from: Option<i64>) -> Outcome<Value<'a>> {
    let (text, part): (Vec<char>, Vec<char>) = (text.chars().collect(), part.chars().collect());
    if part.is_empty() {
        return Ok(from.map_or(Value::int(text.len()), Value::Int));
    }
    let last = match from {
        Some(from) => usize::try_from(from).map_err(|_| out_of_range(from))?,
        None => text.len().saturating_sub(1),
    };
    if last >= text.len() {
        return Ok(Value::Int(-1));
    }
    let found = text.windows(part.len()).enumerate().take(last + 1).rfind(|(_, window)| *window == part);
    Ok(found.map_or(Value::Int(-1), |(index, _)| Value::int(index)))
}

fn split<'a>(text: &str, separator: &str, limit: i64) -> Value<'a> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let parts: Vec<String> = if limit == 0 {
        Vec::new()
    } else if separator.is_empty() {
        let chars: Vec<char> = text.chars().collect();
        let single = chars.len().min(limit.saturating_sub(1));
        let mut parts: Vec<String> = chars[..single].iter().map(char::to_string).collect();
        if single < chars.len() {
            parts.push(chars[single..].iter().collect());
        }
        parts
    } else {
        text.splitn(limit, separator).map(str::to_owned).collect()
    };
    Value::list(parts.into_iter().map(Value::text).collect())
}

fn substring<'a>(text: &str, start: i64, end: Option<i64>) -> Outcome<Value<'a>> {
    let chars: Vec<char> = text.chars().collect();
    let length = i64::try_from(chars.len()).unwrap_or(i64::MAX);
    let last = end.unwrap_or(length);
    if end.is_some() && start > last {
        return Err(Failure::new(format!("invalid substring range. start: {start}, end: {last}")));
    }
    let index = |at: i64| usize::try_from(at).ok().filter(|_| at <= length).ok_or_else(|| out_of_range(at));
    let (start, last) = (index(start)?, index(last)?);
    Ok(Value::text(chars[start..last].iter().collect::<String>()))
}

fn join<'a>(list: &List<'a>, separator: &str) -> Outcome<Value<'a>> {
    let mut parts = Vec::with_capacity(list.len());
    for item in list.iter() {
        match item? {
            Value::String(text) => parts.push(text),
            other => return Err(Failure::new(format!("join: invalid input: {other}"))),
        }
    }
    Ok(Value::text(parts.join(separator)))
}

/// A text in quotes, as CEL could read it.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn format<'a>(text: &str, args: &List<'a>) -> Outcome<Value<'a>> {
    let args = args.values()?;
    formatting::format(text, args.len(), |clause, index| show(clause, &args[index])).map(Value::text).map_err(
        |failure| match failure {
            formatting::Failure::Text(message) => Failure(message),
            formatting::Failure::Clause(Failure(message)) => Failure(format!("error during formatting: {message}")),
        },
    )
}

fn show(clause: Clause, value: &Value<'_>) -> Outcome<String> {
    let refuse = || Err(Failure::new(clause.refuse(value.type_name())));
    Ok(match (clause, value) {
        (Clause::String, _) => return show_any(value, clause),
        (Clause::Decimal, Value::Int(number)) => number.to_string(),
        (Clause::Decimal, Value::Uint(number)) => number.to_string(),
        (Clause::Fixed(digits), Value::Double(number)) if number.is_finite() => grouped(&format!("{number:.digits$}")),
        // However many digits a clause asks for: the server takes the number for a width.
        (Clause::Scientific(_), Value::Double(number)) if number.is_finite() => scientific(*number),
        (Clause::Fixed(_) | Clause::Scientific(_), Value::Double(number)) => show_infinite(*number).to_owned(),
        (Clause::Fixed(_) | Clause::Scientific(_), Value::String(text)) => match &**text {
            "NaN" => "NaN".to_owned(),
            "Infinity" => "∞".to_owned(),
            "-Infinity" => "-∞".to_owned(),
            _ => return refuse(),
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
                _ => return refuse(),
            };
            if upper { hex.to_uppercase() } else { hex }
        }
        _ => return refuse(),
    })
}

fn signed(number: i64, digits: String) -> String {
    if number < 0 { format!("-{digits}") } else { digits }
}

fn show_infinite(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "∞",
        f64::NEG_INFINITY => "-∞",
        _ => "NaN",
    }
}

/// A number with commas between thousands, as the server's locale has it.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// A number such as `1.500000×10⁰³`.
fn scientific(number: f64) -> String {
    let shown = format!("{number:.6e}");
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits: String = format!("{:02}", exponent.abs())
        .bytes()
        .map(|digit| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][usize::from(digit - b'0')])
        .collect();
    let sign = if exponent < 0 { "⁻" } else { "" };
    format!("{mantissa}×10{sign}{digits}")
}

fn show_any(value: &Value<'_>, clause: Clause) -> Outcome<String> {
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::List(list) => {
            let items = list.iter().map(|item| show_inside(&item?, clause)).collect::<Outcome<Vec<_>>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => show_map(map, clause)?,
        Value::Ip(_) | Value::Cidr(_) => return Err(Failure::new(clause.refuse(value.type_name()))),
        other => convert::to_string(other).map_err(|_| Failure::new(clause.refuse(value.type_name())))?,
    })
}

fn show_map(map: &Map<'_>, clause: Clause) -> Outcome<String> {
    let mut entries = Vec::with_capacity(map.len());
    for key in map.keys() {
        let value = map.get(&key)?.unwrap_or(Value::Null);
        entries.push(format!("{}:{}", show_inside(&key, clause)?, show_inside(&value, clause)?));
    }
    entries.sort();
    Ok(format!("{{{}}}", entries.join(", ")))
}

/// A value within a list or map, where strings are quoted.
fn show_inside(value: &Value<'_>, clause: Clause) -> Outcome<String> {
    let shown = show_any(value, clause)?;
    Ok(match value {
        Value::String(_) => format!("{shown:?}"),
        Value::Bytes(_) => format!("b{shown:?}"),
        _ => shown,
    })
}
