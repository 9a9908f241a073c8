//! Functions of URLs.

use std::rc::Rc;

use crate::cel::{
    formats::url::{Url, parse},
    interpreter::value::{EvalError, EvalResult, Value},
};

pub(super) fn call<'a>(function: &str, args: &[Value<'a>]) -> Option<EvalResult<Value<'a>>> {
    match (function, args) {
        ("url", [Value::String(text)]) => {
            let error = |reason| {
                EvalError::new(format!("URL parse error during conversion from string: parse {text:?}: {reason}"))
            };
            Some(parse(text).map(|url| Value::Url(Rc::new(url))).map_err(error))
        }
        ("isURL", [Value::String(text)]) => Some(Ok(Value::Bool(parse(text).is_ok()))),
        (_, [Value::Url(url)]) => component(function, url).map(Ok),
        _ => None,
    }
}

fn component<'a>(function: &str, url: &Url) -> Option<Value<'a>> {
    Some(match function {
        "getScheme" => Value::string(&url.scheme),
        "getHost" => Value::string(&url.host),
        "getHostname" => Value::string(url.hostname()),
        "getPort" => Value::string(url.port()),
        "getEscapedPath" => Value::string(&url.escaped_path),
        "getQuery" => query(url),
        _ => return None,
    })
}

fn query<'a>(url: &Url) -> Value<'a> {
    let entry = |(name, values): (String, Vec<String>)| {
        (Value::string(name), Value::list(values.into_iter().map(Value::string).collect()))
    };
    Value::map(url.query().into_iter().map(entry).collect())
}
