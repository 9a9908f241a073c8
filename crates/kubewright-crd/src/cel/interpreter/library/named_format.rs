//! Functions of named formats.

use crate::cel::{
    formats::named_format::{NAMES, validate},
    interpreter::value::{EvalResult, Value},
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    let named = |name: &str| NAMES.into_iter().find(|known| *known == name).map(Value::NamedFormat);
    Some(Ok(match (function, args) {
        ("format.named", [Value::String(name)]) => named(name).map_or(Value::Optional(None), Value::some),
        ("validate", [Value::NamedFormat(format), Value::String(text)]) => {
            let errors: Vec<Value<'a>> = validate(format, text).into_iter().map(Value::string).collect();
            if errors.is_empty() { Value::Optional(None) } else { Value::some(Value::list(errors)) }
        }
        (_, []) => named(function.strip_prefix("format.")?)?,
        _ => return None,
    }))
}
