//! Functions of semantic versions.

use std::{cmp::Ordering, rc::Rc};

use semver::Version;

use crate::cel::interpreter::value::{EvalError, EvalResult, Value};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    Some(match (function, args) {
        ("semver", [Value::String(text)]) => parse(text, false).map(Value::Semver),
        ("semver", [Value::String(text), Value::Bool(lenient)]) => parse(text, *lenient).map(Value::Semver),
        ("isSemver", [Value::String(text)]) => Ok(Value::Bool(parse(text, false).is_ok())),
        ("isSemver", [Value::String(text), Value::Bool(lenient)]) => Ok(Value::Bool(parse(text, *lenient).is_ok())),
        (_, [Value::Semver(version)]) => {
            let component = match function {
                "major" => version.major,
                "minor" => version.minor,
                "patch" => version.patch,
                _ => return None,
            };
            Ok(Value::Int(i64::try_from(component).unwrap_or(i64::MAX)))
        }
        (_, [Value::Semver(left), Value::Semver(right)]) => {
            let order = left.cmp_precedence(right);
            match function {
                "isGreaterThan" => Ok(Value::Bool(order == Ordering::Greater)),
                "isLessThan" => Ok(Value::Bool(order == Ordering::Less)),
                "compareTo" => Ok(Value::Int(order as i64)),
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Parses a version. The lenient syntax also allows a leading `v`, leading zeros, and a missing minor or patch version.
fn parse(text: &str, lenient: bool) -> EvalResult<Rc<Version>> {
    let normalized = if lenient { normalize(text)? } else { text.to_owned() };
    Version::parse(&normalized).map(Rc::new).map_err(|error| EvalError::new(error.to_string()))
}

fn normalize(text: &str) -> EvalResult<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(trim_leading_zeros).collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err(EvalError::new("short version cannot contain PreRelease/Build meta data"));
    }
    parts.resize(3, "0".to_owned());
    Ok(parts.join("."))
}

fn trim_leading_zeros(part: &str) -> String {
    if part.len() < 2 {
        return part.to_owned();
    }
    let trimmed = part.trim_start_matches('0');
    if trimmed.starts_with(|c: char| c.is_ascii_digit()) { trimmed.to_owned() } else { format!("0{trimmed}") }
}
