//! Functions of strings and regular expressions, and `join`.

use std::rc::Rc;

use ::regex::Regex;

use super::formatting::format;
use crate::cel::{
    formats::regex,
    interpreter::value::{EvalError, EvalResult, List, MAX_STRING_LENGTH, Value},
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    let (Value::String(text), rest) = args.split_first()? else { return call_on_list(function, args) };
    Some(match (function, rest) {
        ("contains", [Value::String(part)]) => Ok(Value::Bool(text.contains(&**part))),
        ("startsWith", [Value::String(part)]) => Ok(Value::Bool(text.starts_with(&**part))),
        ("endsWith", [Value::String(part)]) => Ok(Value::Bool(text.ends_with(&**part))),
        ("matches", [Value::String(pattern)]) => {
            regex::compile(pattern).map(|pattern| Value::Bool(pattern.is_match(text))).map_err(EvalError)
        }
        ("find", [Value::String(pattern)]) => {
            compile(pattern).map(|pattern| Value::string(pattern.find(text).map_or("", |found| found.as_str())))
        }
        ("findAll", [Value::String(pattern)]) => find_all(text, pattern, -1),
        ("findAll", [Value::String(pattern), Value::Int(limit)]) => find_all(text, pattern, *limit),
        ("charAt", [Value::Int(at)]) => char_at(text, *at),
        ("indexOf", [Value::String(part)]) => index_of(text, part, 0),
        ("indexOf", [Value::String(part), Value::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [Value::String(part)]) => last_index_of(text, part, None),
        ("lastIndexOf", [Value::String(part), Value::Int(from)]) => last_index_of(text, part, Some(*from)),
        ("lowerAscii", []) => Ok(Value::string(text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Value::string(text.to_ascii_uppercase())),
        ("trim", []) => Ok(Value::string(text.trim())),
        ("replace", [Value::String(old), Value::String(new)]) => replace(text, old, new, usize::MAX),
        ("replace", [Value::String(old), Value::String(new), Value::Int(count)]) => {
            replace(text, old, new, usize::try_from(*count).unwrap_or(usize::MAX))
        }
        ("split", [Value::String(separator)]) => Ok(split(text, separator, -1)),
        ("split", [Value::String(separator), Value::Int(limit)]) => Ok(split(text, separator, *limit)),
        ("substring", [Value::Int(start)]) => substring(text, *start, None),
        ("substring", [Value::Int(start), Value::Int(end)]) => substring(text, *start, Some(*end)),
        ("jsonpatch.escapeKey", []) => Ok(Value::string(text.replace('~', "~0").replace('/', "~1"))),
        ("strings.quote", []) => Ok(Value::string(quote(text))),
        ("format", [Value::List(args)]) => format(text, args),
        ("size", []) => Ok(Value::int(text.chars().count())),
        _ => return None,
    })
}

fn call_on_list<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    match (function, args) {
        ("join", [Value::List(list)]) => Some(join(list, "")),
        ("join", [Value::List(list), Value::String(separator)]) => Some(join(list, separator)),
        _ => None,
    }
}

fn compile(pattern: &str) -> EvalResult<Rc<Regex>> {
    regex::compile(pattern).map_err(|error| EvalError::new(format!("Illegal regex: {error}")))
}

fn find_all<'a>(text: &str, pattern: &str, limit: i64) -> EvalResult<Value<'a>> {
    let pattern = compile(pattern)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Value::list(pattern.find_iter(text).take(limit).map(|found| Value::string(found.as_str())).collect()))
}

fn out_of_range(index: i64) -> EvalError {
    EvalError::new(format!("index out of range: {index}"))
}

fn char_at<'a>(text: &str, at: i64) -> EvalResult<Value<'a>> {
    let chars: Vec<char> = text.chars().collect();
    match usize::try_from(at) {
        Ok(index) if index == chars.len() => Ok(Value::string("")),
        Ok(index) if index < chars.len() => Ok(Value::string(chars[index].to_string())),
        _ => Err(out_of_range(at)),
    }
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> EvalResult<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let (text, part): (Vec<char>, Vec<char>) = (text.chars().collect(), part.chars().collect());
    let from = usize::try_from(from).map_err(|_| out_of_range(from))?;
    let found = text.windows(part.len()).enumerate().skip(from).find(|(_, window)| *window == part);
    Ok(found.map_or(Value::Int(-1), |(index, _)| Value::int(index)))
}

fn last_index_of<'a>(text: &str, part: &str, from: Option<i64>) -> EvalResult<Value<'a>> {
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

/// Replaces occurrences. The length of the result is limited: the cost of a call does not depend on it.
fn replace<'a>(text: &str, old: &str, new: &str, count: usize) -> EvalResult<Value<'a>> {
    let added = text.matches(old).count().min(count).saturating_mul(new.len());
    if text.len().saturating_add(added) > MAX_STRING_LENGTH {
        return Err(EvalError::cost_limit_exceeded());
    }
    Ok(Value::string(text.replacen(old, new, count)))
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
    Value::list(parts.into_iter().map(Value::string).collect())
}

fn substring<'a>(text: &str, start: i64, end: Option<i64>) -> EvalResult<Value<'a>> {
    let chars: Vec<char> = text.chars().collect();
    let length = i64::try_from(chars.len()).unwrap_or(i64::MAX);
    let last = end.unwrap_or(length);
    if end.is_some() && start > last {
        return Err(EvalError::new(format!("invalid substring range. start: {start}, end: {last}")));
    }
    let index = |at: i64| usize::try_from(at).ok().filter(|_| at <= length).ok_or_else(|| out_of_range(at));
    let (start, last) = (index(start)?, index(last)?);
    Ok(Value::string(chars[start..last].iter().collect::<String>()))
}

fn join<'a>(list: &List<'a>, separator: &str) -> EvalResult<Value<'a>> {
    let mut parts = Vec::with_capacity(list.len());
    for item in list.iter() {
        match item? {
            Value::String(text) => parts.push(text),
            other => return Err(EvalError::new(format!("join: invalid input: {other}"))),
        }
    }
    Ok(Value::string(parts.join(separator)))
}

/// Formats a text as a CEL string literal.
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
